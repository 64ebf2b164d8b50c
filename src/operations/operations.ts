import { ask } from "./ask.ts";
import { batch } from "./batch.ts";
import { exec } from "./exec.ts";
import { get } from "./get.ts";
import { help } from "./help.ts";
import { run } from "./run.ts";

/** Every operation, by name, in the order in which tools are listed. */
export const OPERATIONS = { ask, help, get, exec, batch, run } as const;

export type OperationName = keyof typeof OPERATIONS;
