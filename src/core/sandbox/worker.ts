// The thread of one script at a time. If it exceeds a limit and does not respond, the main thread ends it.
import { type MessagePort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { createMachine } from "./machine.ts";
import type { StartMessage, ToWorker } from "./sandbox.ts";
import { sharedState } from "./sandbox.ts";

const { port } = workerData as { readonly port: MessagePort };
const machine = await createMachine((message) => port.postMessage(message));

port.on("message", (message: ToWorker) => {
  // An answer that arrives here is for a script that has ended.
  if (typeof message === "object") run(message);
});

function run({ script, state }: StartMessage): void {
  const { clock, answers } = sharedState(state);
  machine.start(script, clock);
  // A thread that sleeps until an answer arrives wakes up faster than an event loop.
  while (machine.isWaiting) {
    const seen = Atomics.load(answers, 0);
    const received = receiveMessageOnPort(port);
    if (received) machine.answer(received.message);
    else Atomics.wait(answers, 0, seen);
  }
}
