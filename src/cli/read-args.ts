import { type ParseArgsConfig, parseArgs } from "node:util";
import { problem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";

/**
 * Parses the arguments of a command.
 *
 * @throws INVALID_INPUT for an argument that the command does not take.
 */
export function readArgs<const T extends ParseArgsConfig>(command: string, config: T) {
  try {
    return parseArgs(config);
  } catch (error) {
    throw problem("INVALID_INPUT", { operation: command, reason: reasonOf(error) });
  }
}
