// The thread of one script at a time. The main thread ends it whenever a limit is passed and it does not answer.
import { parentPort } from "node:worker_threads";
import { createMachine, type Machine } from "./machine.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

const port = parentPort!;
const send = (message: FromWorker) => port.postMessage(message);
/** The machine for the next script is made ahead of time, so that a script does not wait for it. */
let next = createMachine(send);
let machine: Machine | undefined;

port.on("message", async (message: ToWorker) => {
  if (message.type === "answer") {
    machine?.answer(message);
    return;
  }
  const fresh = await next;
  machine = fresh;
  fresh.start(message.script, message.state, () => {
    machine = undefined;
    next = createMachine(send);
    next.then(() => send({ type: "ready" }));
  });
});
await next;
send({ type: "ready" });
