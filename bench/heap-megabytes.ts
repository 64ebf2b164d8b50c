import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The memory in use on and off the heap, after garbage collection. */
export async function heapMegabytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  // Memory off the heap is released only after its owner was collected.
  for (let count = 0; count < 3; count++) {
    collect();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}
