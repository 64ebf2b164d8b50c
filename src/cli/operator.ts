import type { OperationName } from "../operations/operations.ts";
import type { ToolAnswer } from "../toolbox.ts";

/** Gives an input to the gateway that the command line names. */
export interface Operator {
  call(name: OperationName, input: object): Promise<ToolAnswer>;
  close(): Promise<void>;
}
