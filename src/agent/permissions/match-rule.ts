import { compileGlob, escapeGlob } from "../../util/match-glob.ts";
import type { PermissionPlace } from "./permission.ts";
import type { Rule } from "./permission-rules.ts";
import { namesScript, programOf, reachOf } from "./shell/command-reach.ts";
import { parseShell } from "./shell/parse-shell.ts";
import type { ShellWord, SimpleCommand } from "./shell/shell-command.ts";

interface WordPattern {
  readonly words: readonly string[];
  /** Whether any further words may follow. */
  readonly open: boolean;
}

/** Whether the pattern of a file rule matches a path. */
export function matchesPath(
  rule: Rule,
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

/** Whether an allow rule speaks for all of a command. `wide`: it does so by its `*`. */
export function coversCommand(rule: Rule, command: SimpleCommand): "exactly" | "wide" | undefined {
  const { words, open } = readWords(rule.pattern);
  const reach = reachOf(command);
  if (reach === "opaque" || !command.words.every(({ literal }) => literal)) return undefined;
  if (!startsWith(command.words, words)) return undefined;
  if (words.length === command.words.length && !open) return "exactly";
  if (!open || words.length <= command.assignments) return undefined;
  return reach === "plain" || namesScript(command, words.length) ? "wide" : undefined;
}

/** Whether a deny or ask rule concerns a command, by whatever path its program is named or run. */
export function concernsCommand(rule: Rule, command: SimpleCommand): boolean {
  const { words, open } = readWords(rule.pattern);
  if (words.length === 0) return open;
  const isPlain = reachOf(command) === "plain";
  if (
    !isPlain &&
    command.words.some(({ text }) => holdsCommand(text, (inner) => concernsCommand(rule, inner)))
  ) {
    return true;
  }
  // What runs other commands has them among its words, so each of these may be where one starts.
  const starts = isPlain ? [command.assignments] : command.words.keys();
  return [...starts].some((start) => {
    const rest = command.words.slice(start);
    const name = programOf({ words: rest, assignments: 0 }) ?? "";
    const named = [{ text: name, literal: true }, ...rest.slice(1)];
    const lowered = words.map((word, index) => (index === 0 ? word.toLowerCase() : word));
    const same = startsWith(rest, words) || startsWith(named, lowered);
    return same && (open || rest.length === words.length);
  });
}

/** Whether a word is itself a text of commands, as `sh -c` takes it, with such a one in it. */
function holdsCommand(text: string, isWanted: (command: SimpleCommand) => boolean): boolean {
  if (!/[\s;&|]/.test(text)) return false;
  const parsed = parseShell(text);
  return parsed.ok && parsed.commands.some(isWanted);
}

/** The rule that speaks for exactly these words. */
export function toCommandRule(words: readonly ShellWord[]): string {
  return `shell-run(${words.map(({ text }) => quoteWord(text)).join(" ")})`;
}

function startsWith(words: readonly ShellWord[], start: readonly string[]): boolean {
  return start.length <= words.length && start.every((word, index) => words[index]?.text === word);
}

function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Words are separated by spaces, quoted by single quotes or a backslash; a bare `*` at the end leaves them open. */
function readWords(pattern: string): WordPattern {
  const words: string[] = [];
  let current: string | undefined;
  let bare = true;
  let open = false;
  for (let at = 0; at <= pattern.length; at += 1) {
    const character = pattern[at] ?? " ";
    if (character === " ") {
      if (current !== undefined) {
        open = bare && current === "*";
        words.push(current);
      }
      current = undefined;
      bare = true;
    } else if (character === "'") {
      const end = pattern.indexOf("'", at + 1);
      const close = end === -1 ? pattern.length : end;
      current = `${current ?? ""}${pattern.slice(at + 1, close)}`;
      bare = false;
      at = close;
    } else if (character === "\\" && at + 1 < pattern.length) {
      at += 1;
      current = `${current ?? ""}${pattern[at]}`;
      bare = false;
    } else current = `${current ?? ""}${character}`;
  }
  return { words: open ? words.slice(0, -1) : words, open };
}
