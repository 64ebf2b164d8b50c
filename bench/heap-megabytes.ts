import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What is in use on the heap and beside it, once what is not has been collected. */
export function heapMegabytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}
