import { parseArgs } from "node:util";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { nearest } from "../../base/util/nearest.ts";
import { reasonOf } from "../../base/util/reason-of.ts";

/** An option of a command. Without `takes` it is a flag. */
export interface CommandOption {
  /** Stands for the value in the help, such as `FILE`. */
  readonly takes?: string;
  readonly short?: string;
  /** May be given several times. */
  readonly repeats?: true;
  /** The value is a whole number up to this one. */
  readonly most?: number;
  readonly choices?: readonly string[];
  readonly default?: string | number;
  /** A flag that is undefined unless it is given, as `--name` or `--no-name`. */
  readonly isOpen?: true;
  readonly help?: string;
}

export type OptionTable = Readonly<Record<string, CommandOption>>;

type ValueOf<O extends CommandOption> = O extends { takes: string }
  ? O extends { repeats: true }
    ? readonly string[]
    : SingleValue<O> | (O extends { default: unknown } ? never : undefined)
  : boolean;
type SingleValue<O extends CommandOption> = O extends { most: number }
  ? number
  : O extends { choices: readonly (infer Choice extends string)[] }
    ? Choice
    : string;
type CamelCase<Name extends string> = Name extends `${infer First}-${infer More}`
  ? `${First}${Capitalize<CamelCase<More>>}`
  : Name;

/** A command line, read: every option under its name in camel case, and the words. */
export type CommandInput<O extends OptionTable> = {
  readonly [Name in keyof O & string as CamelCase<Name>]: ValueOf<O[Name]>;
} & {
  /** The first word of a command with actions, such as `add` in `keyhole agents add`. */
  readonly action: string;
  readonly words: readonly string[];
  /** The words after `--`, if the command takes a command of a server. */
  readonly command: readonly string[];
};

export interface CommandContext {
  readonly usage: string;
  /** Loads all commands, each with its line of `keyhole --help`. */
  readonly commands: () => Promise<readonly (Command & { readonly summary: string })[]>;
}

/** A command: parsing, `--help`, completion and docs come from this. Its summary is its row in `program.ts`. */
export interface CommandDefinition<O extends OptionTable> {
  /** Empty for `keyhole` without a command. */
  readonly name: string;
  /** The page of docs/ that says more. */
  readonly page?: string;
  /** The words after the name, such as `NAME [FOLDER]` or `[SERVER]...`; or those after each action. */
  readonly words?: string | Readonly<Record<string, string>>;
  /** The values that the first word may have. */
  readonly choices?: readonly string[];
  /** Takes the command of a server after `--`. */
  readonly takesCommand?: true;
  /** The usage in place of the derived one. */
  readonly forms?: readonly string[];
  readonly about?: string;
  readonly options?: O;
  /** Comes after the options in the help. */
  readonly notes?: string;
  /** Exits with this code after a mistake in the command line, and shows the help. Default: 1, without the help. */
  readonly misuseCode?: number;
  run(input: CommandInput<O>, context: CommandContext): Promise<void>;
}

export interface Command {
  readonly name: string;
  readonly page?: string | undefined;
  start(args: readonly string[], commands?: CommandContext["commands"]): Promise<void>;
  usage(): string;
  /** The words and options that a shell completes. */
  completions(): readonly string[];
}

const HELP = { short: "h", help: "show this help" } as const satisfies CommandOption;
const WIDTH = 118;
const WIDEST_OPTION = 24;

export function defineCommand<const O extends OptionTable = Record<never, never>>(
  definition: CommandDefinition<O>,
): Command {
  const { name, page, misuseCode, run } = definition;
  const options: OptionTable = { ...definition.options, help: HELP };
  const usage = () => usageOf(definition, options);
  const read = (args: readonly string[]) => readCommandLine(definition, args);
  return {
    name,
    page,
    usage,
    completions: () => [
      ...(definition.choices ?? Object.keys(formsOf(definition)).filter((action) => action !== "")),
      ...Object.keys(options).map((option) => `--${option}`),
    ],
    start: async (args, commands = async () => []) => {
      const input = misuseCode === undefined ? read(args) : readOrExit(() => read(args), usage, misuseCode);
      if (input) await run(input, { usage: usage(), commands });
      else console.log(usage());
    },
  };
}

function readOrExit<T>(read: () => T, usage: () => string, code: number): T {
  try {
    return read();
  } catch (error) {
    console.error(`${reasonOf(error)}\n\n${usage()}`);
    process.exit(code);
  }
}

/** The problem of a command line that cannot be used. */
export function invalid(command: string, reason: string): Problem {
  return problem("INVALID_INPUT", { operation: command || "keyhole", reason });
}

/** The problem of a name that does not exist: says the nearest ones, or otherwise how to see all. */
export function notFound(
  command: string,
  [what, name]: readonly [what: string, name: string],
  names: readonly string[],
  otherwise = `known: ${names.join(", ") || "none"}`,
): Problem {
  const near = nearest(name, names);
  const hint = near.length === 0 ? otherwise : `nearest: ${near.join(", ")}`;
  return invalid(command, toVisibleLine(`${what} ${cutText(name, 128)} not found; ${hint}`));
}

/** Like {@link notFound}, for the first of these names that does not exist. */
export function checkNames(
  command: string,
  what: string,
  wanted: readonly string[],
  names: readonly string[],
  otherwise?: string,
): void {
  const missing = wanted.find((name) => !names.includes(name));
  if (missing !== undefined) throw notFound(command, [what, missing], names, otherwise);
}

/**
 * Reads a command line. Undefined if it asks for the help.
 *
 * @throws INVALID_INPUT for words and options that the command does not take.
 */
export function readCommandLine<O extends OptionTable>(
  definition: Pick<CommandDefinition<O>, "name" | "words" | "choices" | "takesCommand" | "options">,
  args: readonly string[],
): CommandInput<O> | undefined {
  const { name, takesCommand } = definition;
  const options: OptionTable = { ...definition.options, help: HELP };
  const end = takesCommand ? args.indexOf("--") : -1;
  const { values, positionals } = parse(name, end < 0 ? args : args.slice(0, end), options);
  if (values.help) return undefined;
  const fields = Object.entries(options).map(([option, about]) => [
    toCamelCase(option),
    readValue(name, option, about, values[option]),
  ]);
  return {
    ...Object.fromEntries(fields),
    ...readWords(definition, positionals),
    command: end < 0 ? [] : args.slice(end + 1),
  } as CommandInput<O>;
}

type ParsedValue = string | boolean | readonly (string | boolean)[] | undefined;

function parse(name: string, args: readonly string[], options: OptionTable) {
  const table = Object.entries(options).map(([option, { takes, short, repeats }]) => [
    option,
    { type: takes ? "string" : "boolean", ...(short && { short }), ...(repeats && { multiple: true }) },
  ]);
  try {
    const parsed = parseArgs({
      args: [...args],
      options: Object.fromEntries(table),
      allowPositionals: true,
      allowNegative: Object.values(options).some(({ isOpen }) => isOpen),
    });
    return parsed as { values: Record<string, ParsedValue>; positionals: string[] };
  } catch (error) {
    const [, unknown] = /^Unknown option '--([^']*)'/.exec(reasonOf(error)) ?? [];
    if (unknown === undefined) throw invalid(name, ownWords(reasonOf(error)));
    const [near] = nearest(unknown, Object.keys(options));
    const hint = near === undefined ? "" : ` (did you mean --${near}?)`;
    throw invalid(name, `--${unknown} is not an option${hint}`);
  }
}

/** A mistake that Node's parser reports, in one sentence. */
function ownWords(message: string): string {
  const [, option] = /'(?:-\w, )?(--?[\w-]+)[^']*'/.exec(message) ?? [];
  if (/ambiguous|argument missing/.test(message)) return `${option} needs a value`;
  if (/does not take an argument/.test(message)) return `${option} takes no value`;
  return message.split("\n", 1)[0]!.replace(/\.$/, "");
}

function readValue(
  command: string,
  name: string,
  { takes, repeats, most, choices, default: usual, isOpen }: CommandOption,
  value: ParsedValue,
): unknown {
  if (takes === undefined) return isOpen ? value : value === true;
  if (value === undefined) return repeats ? [] : usual;
  if (most !== undefined && !(/^\d{1,9}$/.test(String(value)) && Number(value) <= most))
    throw invalid(command, `--${name} must be a whole number up to ${most}`);
  if (choices && !choices.includes(String(value)))
    throw invalid(command, `--${name} must be one of ${choices.join(", ")}`);
  return most === undefined ? value : Number(value);
}

/** The words of each action; those of a command without actions under the empty name. */
function formsOf({ words = "" }: Pick<CommandDefinition<never>, "words">): Readonly<Record<string, string>> {
  return typeof words === "string" ? { "": words } : words;
}

function readWords(
  definition: Pick<CommandDefinition<never>, "name" | "words" | "choices">,
  given: string[],
) {
  const { name, choices } = definition;
  const forms = formsOf(definition);
  const actions = Object.keys(forms).filter((action) => action !== "");
  const [first = ""] = given;
  const action = actions.includes(first) ? first : "";
  const form = forms[action];
  if (form === undefined || (form === "" && actions.length > 0 && action === "" && first !== "")) {
    if (first === "") throw invalid(name, `name one of ${actions.join(", ")}`);
    throw notFound(name, ["action", first], actions);
  }
  const words = action === "" ? given : given.slice(1);
  const parts = form.split(" ").filter((part) => part !== "");
  const usage = ["keyhole", name, action, form].filter(Boolean).join(" ");
  if (words.length > parts.length && !form.endsWith("..."))
    throw invalid(name, `too many arguments: the usage is ${usage}`);
  const missing = parts[words.length];
  if (missing !== undefined && !missing.startsWith("[")) {
    const all = choices ? `; known: ${choices.join(", ")}` : "";
    throw invalid(name, `${missing} is missing: the usage is ${usage}${all}`);
  }
  if (choices) checkNames(name, (parts[0] ?? "").toLowerCase(), words.slice(0, 1), choices);
  return { action, words };
}

function usageOf<O extends OptionTable>(definition: CommandDefinition<O>, options: OptionTable) {
  const { name, about, notes, choices } = definition;
  const forms =
    definition.forms ?? Object.entries(formsOf(definition)).map((form) => form.filter(Boolean).join(" "));
  const lines = forms.map((form, index) =>
    ["keyhole", name, form, index === 0 ? "[options]" : ""].filter(Boolean).join(" "),
  );
  const rows: (readonly [left: string, help: string])[] = [
    ...(choices ? [[(forms[0] ?? "").split(" ")[0]!, choices.join(", ")] as const] : []),
    ...Object.entries(options).map(([option, about]) => [labelOf(option, about), helpOf(about)] as const),
  ];
  const widest = Math.max(
    ...rows.map(([left]) => left.length).filter((length) => length <= WIDEST_OPTION),
    0,
  );
  return [
    `Usage: ${lines.join("\n       ")}`,
    ...(about === undefined ? [] : [wrapText(about, WIDTH).join("\n")]),
    rows.flatMap(([left, help]) => rowLines(left, help, widest + 2)).join("\n"),
    ...(notes === undefined ? [] : [wrapText(notes, WIDTH).join("\n")]),
  ].join("\n\n");
}

function labelOf(option: string, { takes, short }: CommandOption): string {
  return `${short ? `-${short}, ` : ""}--${option}${takes ? ` ${takes}` : ""}`;
}

function helpOf({ help, choices, default: usual, repeats }: CommandOption): string {
  const parts = [choices?.join(", "), help, repeats && "may be repeated"].filter(Boolean);
  return `${parts.join("; ")}${usual === undefined || usual === "" ? "" : ` (default: ${usual})`}`;
}

function rowLines(left: string, help: string, width: number): string[] {
  const [first = "", ...more] = wrapText(help, WIDTH - width - 2);
  const indent = " ".repeat(width + 2);
  if (left.length + 2 > width) return [`  ${left}`, ...[first, ...more].map((line) => `${indent}${line}`)];
  return [`  ${left.padEnd(width)}${first}`.trimEnd(), ...more.map((line) => `${indent}${line}`)];
}

/** Breaks text into lines. Empty lines part paragraphs; a paragraph indented by two spaces stays as it is. */
export function wrapText(text: string, width: number): string[] {
  return text
    .trimEnd()
    .split(/\n\s*\n/)
    .flatMap((paragraph, index) => [...(index > 0 ? [""] : []), ...wrapParagraph(paragraph, width)]);
}

function wrapParagraph(paragraph: string, width: number): string[] {
  if (/^ {2}\S/.test(paragraph)) return paragraph.split("\n");
  const lines: string[] = [""];
  for (const word of paragraph.trim().split(/\s+/)) {
    const line = lines.at(-1)!;
    if (line.length + word.length + 1 > width && line !== "") lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

export function toCamelCase(option: string): string {
  return option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
