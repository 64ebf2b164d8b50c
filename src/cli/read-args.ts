import { type ParseArgsConfig, parseArgs } from "node:util";
import { problem } from "../schema/problem.ts";
import { nearest } from "../util/nearest.ts";
import { reasonOf } from "../util/reason-of.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

export const TEXT = { type: "string" } as const;
export const TEXTS = { type: "string", multiple: true, default: [] as string[] } as const;
export const FLAG = { type: "boolean", default: false } as const;

/**
 * Parses the arguments of a command that takes these options, `--help` and no words.
 *
 * @throws INVALID_INPUT for an argument that the command does not take.
 */
export function readArgs<const T extends Options>(command: string, args: readonly string[], options: T) {
  return { values: parse(command, { args: [...args], options: { ...options, help: FLAG } }).values };
}

/** Parses the arguments of a command that also takes words. See {@link readArgs}. */
export function readWordsAndArgs<const T extends Options>(
  command: string,
  args: readonly string[],
  options: T,
  more: { readonly allowNegative?: boolean } = {},
) {
  return parse(command, {
    ...more,
    args: [...args],
    allowPositionals: true,
    options: { ...options, help: FLAG },
  });
}

function parse<const T extends ParseArgsConfig>(command: string, config: T) {
  try {
    return parseArgs(config);
  } catch (error) {
    const [, unknown] = /^Unknown option '--([^']*)'/.exec(reasonOf(error)) ?? [];
    throw problem("INVALID_INPUT", {
      operation: command,
      reason: unknown === undefined ? reasonOf(error) : noOption(unknown, Object.keys(config.options ?? {})),
    });
  }
}

function noOption(name: string, known: readonly string[]): string {
  const [near] = nearest(name, known);
  return `--${name} is not an option${near === undefined ? "" : ` (did you mean --${near}?)`}`;
}
