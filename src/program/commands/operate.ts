import { z } from "zod";
import { issueReason } from "../../base/json-schema/zod-mistakes.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { fieldsOf, listOf, type PlainObject } from "../../base/util/plain-object.ts";
import type { EntryStatus, Lane } from "../../core/nouns/entry.ts";
import { DOES } from "../../core/nouns/entry.ts";
import type { Directory } from "../../core/operations/describe-directory.ts";
import type { AskOutput } from "../../core/operations/fit-ask.ts";
import type { Operation } from "../../core/operations/operation.ts";
import { OPERATIONS, type OperationName } from "../../core/operations/operations.ts";
import type { ToolAnswer } from "../../gateway/toolbox.ts";
import type { Explanation } from "../../search/port/search-index.ts";
import type { Operator } from "../open/open-local.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { hasTerminal } from "../terminal/confirm.ts";
import {
  type Command,
  type CommandInput,
  type CommandOption,
  defineCommand,
  invalid,
  toCamelCase,
  wrapText,
} from "../terminal/define-command.ts";
import { CONFIG, PROFILE, TRUST } from "../terminal/shared-options.ts";

/** The options that every operation takes on the command line. */
const SHARED = {
  config: CONFIG,
  profile: PROFILE,
  url: {
    takes: "ADDRESS",
    help: "a gateway that runs already, instead of a config (default: KEYHOLE_URL; token: KEYHOLE_TOKEN)",
  },
  trust: TRUST,
  "allow-write": { help: "run tools that write without asking" },
  json: { help: "print the whole answer as JSON" },
} as const;

type OperationFlags = CommandInput<typeof SHARED>;
/** The command line of an operation: its flags, and the fields of the operation by name. */
type OperationLine = OperationFlags & { readonly [field: string]: unknown };
type CommandOperation = Pick<
  Operation<z.ZodType, unknown, z.ZodType>,
  "name" | "title" | "input" | "command"
>;

/** A tool ran dry, and nobody had asked for that. */
const RAN_DRY = 3;

/** The operations that run writing tools. */
const RUNS_TOOLS: readonly OperationName[] = ["exec", "run"];

/** The command of an operation: words and values in the operation's form, every other field as an option. */
export function operationCommand(name: OperationName): Command {
  const operation = operationOf(name);
  const { title, command } = operation;
  const fields = optionsOf(operation);
  return defineOperationCommand({
    name: command.name ?? name,
    usage: command.usage,
    about: `${title}. ${VALUES}`,
    fields,
    runsTools: RUNS_TOOLS.includes(name),
    run: (input) => operate(name, toInput(operation, fields, input), input),
  });
}

/** Tools are described; everything else is loaded. */
const LOADED = /^[^:]+:\/\/(?!$|tools$|tools\/)/;

/** `keyhole show`: the operations `help` and `get` in one. */
export function showCommand(): Command {
  const fields = optionsOf(operationOf("help"));
  return defineOperationCommand({
    name: "show",
    usage: "[PATH] [name=value…]",
    about: `Describes a server, a group of tools or one tool; without PATH, everything there is. Loads a document, a skill, a prompt with
      its values, or a stored result. ${VALUES}`,
    fields,
    runsTools: false,
    run: (input) => {
      const isLoaded = LOADED.test(input.words[0] ?? "");
      const name = isLoaded ? "get" : "help";
      return operate(name, toInput(operationOf(name), isLoaded ? [] : fields, input), input);
    },
  });
}

const VALUES = "Values are read as JSON where they are JSON, otherwise as text.";

interface OperationCommand {
  readonly name: string;
  readonly usage: string;
  readonly about: string;
  readonly fields: readonly OperationField[];
  /** Whether it runs tools that write. */
  readonly runsTools: boolean;
  run(input: OperationLine): Promise<void>;
}

function defineOperationCommand({ name, usage, about, fields, runsTools, run }: OperationCommand): Command {
  const defined = defineCommand({
    name,
    words: "[WORD]...",
    forms: [usage],
    about,
    options: {
      ...Object.fromEntries(fields.map((field) => [field.option, field.about])),
      ...SHARED,
    },
    notes: runsTools
      ? `Exits with 1 if the answer is an error, and with ${RAN_DRY} if a tool ran dry although --dry-run was not given.`
      : "Exits with 1 if the answer is an error.",
    run: (input) => run(input as never),
  });
  return { ...defined, start: (args) => defined.start(args.map(spellOut)) };
}

function operationOf(name: OperationName): CommandOperation {
  return OPERATIONS[name] as unknown as CommandOperation;
}

async function operate(name: OperationName, input: object, options: OperationFlags): Promise<void> {
  const operator = await open(options);
  try {
    const answer = await operator.call(name, input);
    console.log(options.json ? JSON.stringify(answer.data, null, 2) : shown(name, answer, options));
    if (name === "ask" && !operator.isRemote && hasFailedServers(answer))
      console.error(`${suggestCommand(["doctor"], options.config)} says what to correct.`);
    if (!answer.ok) process.exitCode = 1;
    else if (ranDryUnasked(input, answer.data)) process.exitCode = RAN_DRY;
  } finally {
    await operator.close();
  }
}

/** The gateway of the address; otherwise that of the daemon, if one runs; otherwise one of its own. */
async function open(options: OperationFlags): Promise<Operator> {
  const { url = process.env.KEYHOLE_URL, config } = options;
  if (url && config === undefined) {
    const { openRemote } = await import("../open/open-remote.ts");
    return openRemote(url, process.env.KEYHOLE_TOKEN);
  }
  const { openRunning } = await import("../daemon/terminal-calls.ts");
  const local = { ...options, isAsked: hasTerminal() };
  return (await openRunning(local)) ?? (await import("../open/open-local.ts")).openLocal(local);
}

/** Whether a call of the answer ran dry although the input does not ask for a dry run. */
function ranDryUnasked(input: object, data: unknown): boolean {
  const { meta, dry_run: isDry } = fieldsOf(data);
  return (isDry === true || fieldsOf(meta).dry_run === true) && fieldsOf(input).dryRun !== true;
}

function shown(name: OperationName, { ok, text, data }: ToolAnswer, options: OperationFlags): string {
  if (!ok) return toVisibleText(showMistake(fieldsOf(data), options) ?? text);
  if (name === "ask") return toVisibleText(showAsk(data as AskOutput));
  const isDirectory = name === "help" && fieldsOf(data).kind === "directory";
  return toVisibleText(isDirectory ? showDirectory(data as Directory) : text);
}

/** Writes a directory for a person: servers or groups with the names in them, then what each tool does. */
function showDirectory({ path, summary, instructions, groups, ops }: Directory): string {
  const columns = process.stdout.columns || 80;
  const about = path === "" ? summary.replace(/^\d+ domains?/, countOf(groups.length, "server")) : summary;
  const width = Math.max(0, ...ops.map(({ op }) => op.length));
  return [
    ...(about ? wrapText(about, columns) : []),
    ...(instructions ? [instructions] : []),
    ...groups.flatMap(({ path, count, summary, names }) => [
      `${path} (${count})${summary ? `  ${summary}` : ""}`,
      ...(names.length > 0 ? wrapText(names.join(", "), columns - 2).map((line) => `  ${line}`) : []),
    ]),
    ...ops.map(({ op, lane, summary = "" }) =>
      `${op.padEnd(width)}  ${(DOES[lane as Lane] ?? lane).padEnd(8)}  ${summary}`.trimEnd(),
    ),
  ].join("\n");
}

/** A wrong name or wrong values, in the words of a command line. Undefined for every other problem. */
function showMistake({ op, error }: PlainObject, { config, allowWrite }: OperationFlags): string | undefined {
  const { code, message, details } = fieldsOf(error);
  const { nearest: near, field_errors, example } = fieldsOf(details);
  const [meant] = listOf(near);
  if (code === "NOT_FOUND" && meant !== undefined) return `${code}: ${message} Did you mean ${meant}?`;
  if (code !== "INVALID_PARAMS") return undefined;
  const faults = listOf(field_errors).map(fieldsOf);
  const values = Object.entries(fieldsOf(example)).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [
    `${code}: ${faults.map(({ field, message: fault }) => `${field} ${fault}`).join("; ")}.`,
    `Such as: ${suggestCommand(["call", String(op), ...values, ...(allowWrite ? ["--allow-write"] : [])], config)}`,
    `${suggestCommand(["show", String(op)], config)} describes it.`,
  ].join("\n");
}

/** Whether a note of the answer names a server that has failed. */
function hasFailedServers({ data }: ToolAnswer): boolean {
  const state: EntryStatus["state"] = "server_down";
  return listOf(fieldsOf(data).notes).some((note) => String(note).includes(`${state}: `));
}

/** A field of an operation's input, as an option such as `--max-tokens 400` or `--no-dry-run`. */
interface OperationField {
  readonly name: string;
  readonly option: string;
  readonly about: CommandOption;
  read(value: string | boolean): unknown;
}

/** The fields of operations in words for people; a field without words is described by the operation. */
const FIELDS: Readonly<Record<string, string>> = {
  queries: "several needs at once, as a JSON list",
  domain: "only this server",
  kinds: "only these, as a JSON list: tool, resource, skill, prompt",
  perDomain: "at most this many of each server",
  limit: "at most this many",
  maxTokens: "the length of the answer in tokens",
  explain: "say why each was found",
  session: "go on with the session that an answer of this address named",
  plan: "perform the plan that an answer of this address named",
  format: "short or full (default: short)",
  includeExamples: "--no-include-examples leaves them out",
  includeSchemas: "with the JSON Schemas of tools",
  args: "all values as one JSON object",
  params: "all values as one JSON object",
  idempotencyKey: "a key under which a repeated call gets the first answer",
  dryRun: "only say what would happen",
  timeout_ms: "how long the script may run",
  keep: "keep the script as a recipe, described by a JSON object",
};
/** Options with another name than their field. */
const NAMED: Readonly<Record<string, string>> = { domain: "server", perDomain: "per-server" };
/** The words of the command line carry these fields. */
const WORDED = ["query", "path", "op", "route", "code"];

function optionsOf({ name: operation, input, command }: CommandOperation): OperationField[] {
  const shape = input instanceof z.ZodObject ? (input.shape as Record<string, z.ZodType>) : {};
  const fields = Object.entries(shape).filter(([name]) => !WORDED.includes(name));
  return fields.map(([name, schema]) => {
    const help = FIELDS[name] ?? schema.description ?? "";
    const isFlag = schema.safeParse(true).success && !schema.safeParse("text").success;
    return {
      name,
      option:
        NAMED[name] ?? name.replaceAll("_", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      about: isFlag ? { isOpen: true, help } : { takes: "VALUE", help },
      read: (value) => {
        if (value === "" || schema.safeParse(value).success) return value;
        const json = typeof value === "string" ? readValue(value) : value;
        const [issue] = schema.safeParse(json).error?.issues ?? [];
        if (!issue) return json;
        const reason = issue.code === "custom" ? issue.message : issueReason(issue);
        throw invalid(command.name ?? operation, `--${name.replaceAll("_", "-")} ${reason}`);
      },
    };
  });
}

const VALUE = /^([\p{L}_][\p{L}\p{N}_.-]*)=(.*)$/su;

function toInput(
  { command }: CommandOperation,
  fields: readonly OperationField[],
  input: OperationLine,
): object {
  const words: string[] = [];
  const values: [string, unknown][] = [];
  for (const word of input.words) {
    const [, name, text = ""] = (command.takesValues && VALUE.exec(word)) || [];
    if (name === undefined) words.push(word);
    else values.push([name, readValue(text)]);
  }
  const options = fields.flatMap(({ name, option, read }) => {
    const value = input[toCamelCase(option)];
    return value === undefined ? [] : [[name, read(value as string | boolean)]];
  });
  return { ...command.toInput(words, Object.fromEntries(values)), ...Object.fromEntries(options) };
}

/** `--dry-run=false` and `--no-dry-run` are the same. `--domain` is the name that `--server` had. */
function spellOut(arg: string): string {
  return arg
    .replace(/^--(per-)?domain(?=$|=)/, "--$1server")
    .replace(
      /^--([\w-]+)=(true|false)$/,
      (_, option, value) => `--${value === "true" ? "" : "no-"}${option}`,
    );
}

/** Numbers, true, false, null, lists and objects are read as JSON; everything else is text. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Writes what `ask` found for a person: one block for each hit, and why it was found if the answer says so. */
function showAsk(output: AskOutput): string {
  const { hits, rules, notes, suggestions, omitted, explanations = {} } = output;
  const blocks = hits.map((hit, index) => {
    const why = explanations[hit.route] as Explanation | undefined;
    const marks = [
      ...(hit.lane === undefined || hit.lane === "read" ? [] : [DOES[hit.lane]]),
      ...(hit.entryPoint ? ["a way in"] : []),
      ...(hit.unavailable ? [`unavailable, ${hit.unavailable}`] : []),
    ];
    return [
      `${index + 1}. ${hit.op ?? hit.route}${hit.signature ?? ""}${marks.length > 0 ? `  [${marks.join("; ")}]` : ""}`,
      ...(hit.summary ? [`   ${hit.summary}`] : []),
      ...(why ? [`   why: ${reasonsOf(why).join("; ")}`] : []),
    ].join("\n");
  });
  return [
    ...notes,
    ...blocks,
    ...rules.map(({ domain, text }) => `Rule of ${domain}: ${text}`),
    ...(suggestions.length > 0 ? [`Near names: ${suggestions.join(", ")}`] : []),
    ...(omitted > 0 ? [`${omitted} more left out: --max-tokens or --limit shows more.`] : []),
  ].join("\n");
}

function reasonsOf({ exactName, lexical, vector, learned, terms }: Explanation): string[] {
  const words = terms.map(({ term, score, fields }) => `${term} ${score.toFixed(2)} (${fields.join(", ")})`);
  return [
    ...(exactName ? ["the query names it"] : []),
    ...(lexical > 0 ? [`words ${lexical.toFixed(2)}: ${words.join(", ")}`] : []),
    ...(vector === undefined ? [] : [`meaning ${vector.toFixed(2)}`]),
    ...(learned === undefined ? [] : [`past use +${learned.toFixed(2)}`]),
  ];
}
