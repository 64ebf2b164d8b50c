import { z } from "zod";
import type { Operation } from "../operations/operation.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";

type AnyOperation = Pick<Operation<z.ZodType, unknown, z.ZodType>, "name" | "input" | "command">;

/** The options that every operation takes on the command line. */
const SHARED = {
  config: TEXT,
  profile: TEXT,
  url: TEXT,
  trust: FLAG,
  "allow-write": FLAG,
  json: FLAG,
} as const;

/** A command line of an operation, read. */
export interface OperationArgs {
  readonly input: object;
  readonly config: string | undefined;
  readonly profile: string | undefined;
  readonly url: string | undefined;
  readonly trust: boolean;
  readonly allowWrite: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

const VALUE = /^([\p{L}_][\p{L}\p{N}_.-]*)=(.*)$/su;

/**
 * Reads the command line of an operation: words and values by the operation's own form, every other field of its
 * input as an option (`--max-tokens 400`, `--no-dry-run`).
 *
 * @throws INVALID_INPUT for an option that is neither shared nor a field.
 */
export function readOperationArgs(operation: AnyOperation, args: readonly string[]): OperationArgs {
  const fields = fieldsOf(operation);
  const { values, positionals } = readWordsAndArgs(
    operation.name,
    args.map(spellOut),
    { ...Object.fromEntries(fields.map((field) => [field.option, { type: field.type }])), ...SHARED },
    { allowNegative: true },
  );
  const given = values as Readonly<Record<string, string | boolean | undefined>>;
  const { words, pairs } = split(positionals, operation.command.takesValues === true);
  const options = fields.flatMap((field) => {
    const value = given[field.option];
    return value === undefined ? [] : [[field.name, field.read(value)]];
  });
  return {
    input: { ...operation.command.toInput(words, pairs), ...Object.fromEntries(options) },
    config: values.config,
    profile: values.profile,
    url: values.url,
    trust: values.trust,
    allowWrite: values["allow-write"],
    json: values.json,
    help: values.help,
  };
}

/** The options that stand for fields of the operation's input, for its usage. */
export function fieldOptions(operation: AnyOperation): readonly string[] {
  return fieldsOf(operation).map(({ option, type }) =>
    type === "boolean" ? `--${option}` : `--${option} VALUE`,
  );
}

interface Field {
  readonly name: string;
  readonly option: string;
  readonly type: "boolean" | "string";
  read(value: string | boolean): unknown;
}

function fieldsOf({ input }: AnyOperation): Field[] {
  const shape = input instanceof z.ZodObject ? (input.shape as Record<string, z.ZodType>) : {};
  return Object.entries(shape).map(([name, schema]) => ({
    name,
    option: name.replaceAll("_", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    type: schema.safeParse(true).success && !schema.safeParse("text").success ? "boolean" : "string",
    read: (value) =>
      typeof value === "string" && !schema.safeParse(value).success ? readValue(value) : value,
  }));
}

/** `--dry-run=false` and `--no-dry-run` are the same. */
function spellOut(arg: string): string {
  return arg.replace(
    /^--([\w-]+)=(true|false)$/,
    (_, option, value) => `--${value === "true" ? "" : "no-"}${option}`,
  );
}

function split(positionals: readonly string[], takesValues: boolean) {
  const matches = positionals.map((word) => ({ word, match: takesValues ? VALUE.exec(word) : null }));
  return {
    words: matches.flatMap(({ word, match }) => (match ? [] : [word])),
    pairs: Object.fromEntries(
      matches.flatMap(({ match }) => (match ? [[match[1], readValue(match[2]!)]] : [])),
    ),
  };
}

/** Numbers, true, false, null, lists and objects are read as JSON; everything else is text. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
