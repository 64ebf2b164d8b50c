import { compileGlob, escapeGlob } from "./match-glob.ts";
import type { PermissionPlace, PermissionRule } from "./permission.ts";
import { programOf, reachOf, withoutGlobalOptions } from "./shell/command-reach.ts";
import { parseShell } from "./shell/parse-shell.ts";
import type { ShellWord, SimpleCommand } from "./shell/read-word.ts";

interface WordPattern {
  readonly words: readonly string[];
  /** The star that stands for further words: `*` if they make the program only read, `**` whatever they do. */
  readonly star: "*" | "**" | undefined;
}

export function matchesPath(
  rule: PermissionRule,
  path: string,
  { root, home }: PermissionPlace,
  anyCase: boolean,
): boolean {
  const { pattern } = rule;
  const inFolder = (folder: string, rest: string) => `${folder === "/" ? "" : escapeGlob(folder)}/${rest}`;
  const absolute = pattern.startsWith("/")
    ? pattern
    : pattern.startsWith("~/")
      ? inFolder(home, pattern.slice(2))
      : inFolder(root, pattern.replace(/^\.\//, ""));
  const fold = (text: string) => (anyCase ? text.normalize("NFC").toLowerCase() : text);
  return compileGlob(fold(absolute))(fold(path));
}

/** Whether a file rule names one path, without a star or a question mark. */
export function namesOnePath({ pattern }: PermissionRule): boolean {
  return !/[*?]/.test(pattern.replace(/\\./g, ""));
}

/** Whether an allow rule covers all of a command, word for word or by its `*`. */
export function coversCommand(rule: PermissionRule, command: SimpleCommand): "exactly" | "wide" | undefined {
  const { words, star } = readWords(rule.pattern);
  const spelling = [command.words, withoutGlobalOptions(command)].find((each) => startsWith(each, words));
  if (spelling === undefined || !command.words.every(({ literal }) => literal)) return undefined;
  const reach = reachOf(command);
  if (reach.kind === "opaque") return undefined;
  if (star === undefined) return words.length === spelling.length ? "exactly" : undefined;
  if (words.length <= command.assignments) return undefined;
  return reach.kind === "plain" || (reach.kind === "runner" && star === "**") ? "wide" : undefined;
}

/** Whether a deny or ask rule concerns a command, by whatever path, options or other program it is run. */
export function concernsCommand(rule: PermissionRule, command: SimpleCommand): boolean {
  const pattern = readWords(rule.pattern);
  if (pattern.words.length === 0) return pattern.star !== undefined;
  const isPlain = reachOf(command).kind === "plain";
  const inside = (text: string) => holdsCommand(text, (inner) => concernsCommand(rule, inner));
  if (!isPlain && command.words.some(({ text }) => inside(text))) return true;
  // A command that may run others has them among its words, so each word may be the start of one.
  const starts = isPlain ? [command.assignments] : command.words.keys();
  return [...starts].some((start) => {
    const rest = command.words.slice(start);
    return startsLike(rest, pattern) || meansTheSame(rest, pattern);
  });
}

function startsLike(words: readonly ShellWord[], pattern: WordPattern): boolean {
  return (
    startsWith(words, pattern.words) && (pattern.star !== undefined || words.length === pattern.words.length)
  );
}

/** Whether words are a pattern's when options stand between them or in another order, as `git -P push` has them. */
function meansTheSame(command: readonly ShellWord[], { words, star }: WordPattern): boolean {
  const [program = "", ...wanted] = words;
  if (programOf({ words: command, assignments: 0 }) !== program.toLowerCase()) return false;
  const args = command.slice(1).map(({ text }) => text);
  const options = wanted.filter(isOption);
  if (!options.every((option) => args.some((arg) => arg === option || arg.startsWith(`${option}=`))))
    return false;
  let ends = new Set([0]);
  for (const word of wanted.filter((each) => !isOption(each))) {
    const found = [...skipOptions(ends, args)].filter((at) => args[at] === word);
    ends = new Set(found.map((at) => at + 1));
  }
  if (star !== undefined) return ends.size > 0;
  return [...ends].some((end) => args.slice(end).every((arg) => options.includes(arg)));
}

/** Every place that is reached by passing options; the word behind one may be its value. */
function skipOptions(starts: ReadonlySet<number>, args: readonly string[]): ReadonlySet<number> {
  const places = new Set(starts);
  for (const at of places) {
    const arg = args[at];
    if (arg === undefined || !isOption(arg)) continue;
    places.add(at + 1);
    if (!arg.includes("=")) places.add(at + 2);
  }
  return places;
}

function isOption(word: string): boolean {
  return /^[-+]./.test(word);
}

/** Whether a word is a text of commands, as `sh -c` takes it, and one of them is wanted. */
function holdsCommand(text: string, isWanted: (command: SimpleCommand) => boolean): boolean {
  if (!/[\s;&|]/.test(text)) return false;
  const parsed = parseShell(text);
  return parsed.ok && parsed.commands.some(isWanted);
}

export function toCommandRule(words: readonly ShellWord[]): string {
  return `shell-run(${words.map(({ text }) => quoteWord(text)).join(" ")})`;
}

/** Subcommands, such as `run build`; options and paths are none. */
const MOST_WORDS = 3;
const SUBCOMMAND = /^[a-z][a-z:-]*$/i;

/** The rule for the same program and its first words; that of all its words if a star could not follow them. */
export function toWiderRule(command: SimpleCommand): string {
  const { words, assignments } = command;
  const { kind } = reachOf(command);
  const [program, first, ...others] = words.slice(assignments);
  const star = kind === "plain" ? "*" : "**";
  if (!program || kind === "wrapper" || kind === "opaque" || first?.text.startsWith("-"))
    return toCommandRule(words);
  const more = others.findIndex(({ text }) => !SUBCOMMAND.test(text) || !SUBCOMMAND.test(first!.text));
  const count = Math.min(MOST_WORDS, 2 + (more === -1 ? others.length : more));
  const rule = toCommandRule(words.slice(0, assignments + count));
  return `${rule.slice(0, -1)} ${star})`;
}

function startsWith(words: readonly ShellWord[], start: readonly string[]): boolean {
  return start.length <= words.length && start.every((word, index) => words[index]?.text === word);
}

function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Spaces separate words, single quotes and backslashes quote them, and a bare star may stand at the end. */
function readWords(pattern: string): WordPattern {
  const raw = pattern.match(/(?:'[^']*'|\\.|[^ '\\])+/gs) ?? [];
  const last = raw.at(-1);
  const star = last === "*" || last === "**" ? last : undefined;
  const unquote = (word: string) =>
    word.replace(/'([^']*)'|\\(.)/gs, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? "");
  return { words: (star ? raw.slice(0, -1) : raw).map(unquote), star };
}
