import { type ParseArgsConfig, parseArgs } from "node:util";
import { problem } from "../schema/problem.ts";
import { nearest } from "../util/nearest.ts";
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
    const reason = /^Unknown option '--([^']*)'/.exec(reasonOf(error));
    const [near] = reason ? nearest(reason[1]!, Object.keys(config.options ?? {})) : [];
    const known = reason
      ? `there is no --${reason[1]}${near ? `; did you mean --${near}?` : ""}`
      : reasonOf(error);
    throw problem("INVALID_INPUT", { operation: command, reason: known });
  }
}

/** Reads the arguments of a command that looks at the catalog of a config. */
export function readCatalogArgs(command: string, args: readonly string[]) {
  return readArgs(command, {
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
}
