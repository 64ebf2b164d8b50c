import type { z } from "zod";
import { ask } from "./ask.ts";
import { batch } from "./batch.ts";
import { exec } from "./exec.ts";
import { get } from "./get.ts";
import { help } from "./help.ts";
import type { Operation } from "./operation.ts";
import { run } from "./run.ts";

/** All operations in the order in which tools are listed. */
export const OPERATIONS = { ask, help, get, exec, batch, run } as const;

/** The name of an operation. */
export type OperationName = keyof typeof OPERATIONS;
export type AnyOperation = Operation<z.ZodType, unknown, z.ZodType>;

export function operationOf(name: OperationName): AnyOperation {
  return OPERATIONS[name] as unknown as AnyOperation;
}

/** Dotted names of operations, as programs write them. */
const OPERATION_ALIASES = {
  "tool.search": "ask",
  "tool.help": "help",
  "tool.exec": "exec",
  "tool.batch": "batch",
} as const satisfies Record<string, OperationName>;

/** The names of an operation that `gateway.call` accepts. */
export type OperationSpelling = OperationName | keyof typeof OPERATION_ALIASES;
/** The operation behind a name. */
export type SpeltOperation<S extends OperationSpelling> = S extends keyof typeof OPERATION_ALIASES
  ? (typeof OPERATION_ALIASES)[S]
  : Extract<S, OperationName>;

/** The operation behind a dotted name. Undefined for any other name. */
export function operationByAlias(name: string): OperationName | undefined {
  return Object.hasOwn(OPERATION_ALIASES, name)
    ? OPERATION_ALIASES[name as keyof typeof OPERATION_ALIASES]
    : undefined;
}
