import { OPERATIONS, type OperationName } from "./operations.ts";

/** Whether nothing of an answer went well. Of several requests, one that did makes it one to read on in. */
export function failedWhole(operation: OperationName, output: object): boolean {
  const { summary } = output as { readonly summary?: { readonly success: number } };
  return summary && typeof summary === "object"
    ? summary.success === 0
    : outcomeOf(operation, output) !== "ok";
}

/** The code of the problem that an answer carries, or `ok`. */
export function outcomeOf(operation: OperationName, output: object): string {
  return (OPERATIONS[operation].outcome as (output: object) => string)(output);
}
