// The thread of one script at a time. The main thread ends it whenever a limit is passed and it does not answer.
import { type MessagePort, workerData } from "node:worker_threads";
import { createMachine } from "./machine.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

const { port } = workerData as { readonly port: MessagePort };
const { start, answer } = await createMachine((message: FromWorker) => port.postMessage(message));

port.on("message", (message: ToWorker) => {
  if (message.type === "answer") answer(message.text);
  else void start(message.script, message.state);
});
