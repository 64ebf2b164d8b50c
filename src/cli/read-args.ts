import { type ParseArgsConfig, parseArgs } from "node:util";
import { problem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";

/** The arguments of a command. One that it does not take is a problem. */
export function readArgs<const T extends ParseArgsConfig>(command: string, config: T) {
  try {
    return parseArgs(config);
  } catch (error) {
    throw problem("INVALID_INPUT", { operation: command, reason: reasonOf(error) });
  }
}
