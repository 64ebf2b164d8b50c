import { afterGlobalOptions, gitChangesNothing, gitOnlyReads, reachOfGit } from "./git-reach.ts";
import {
  BUILTINS,
  type CommandReach,
  hasOption,
  INTERPRETERS,
  READERS,
  SHELLS,
  WRAPPERS,
  WRITERS,
} from "./programs.ts";
import type { ShellWord, SimpleCommand } from "./read-word.ts";

const PLAIN = { kind: "plain" } as const;
const SHOWS_VERSION = new Set(["--version", "--help", "-V"]);
/** The folders whose programs are known by their names. */
const SYSTEM_FOLDERS = new Set(["", "/bin/", "/usr/bin/"]);

/** How far a rule can speak for a command, and why. */
export function reachOf(command: SimpleCommand): CommandReach {
  const name = programOf(command);
  if (name === undefined) return { kind: "opaque", reason: "sets variables for later commands" };
  if (BUILTINS.has(name)) return { kind: "opaque", reason: "changes what later commands mean" };
  const args = argumentsOf(command);
  const isShell = SHELLS.has(name);
  if ((isShell || INTERPRETERS.has(withoutVersion(name))) && readsInput(args)) {
    return { kind: "opaque", reason: "runs what it reads from its input" };
  }
  if (isShell || WRAPPERS.has(name)) return { kind: "wrapper", reason: "runs the command in its words" };
  if (args.length === 1 && SHOWS_VERSION.has(args[0]!)) return PLAIN;
  const system = systemName(command);
  if (system === "git") return reachOfGit(args);
  if (system !== undefined && WRITERS.has(system)) return PLAIN;
  const options = system === undefined ? undefined : READERS.get(system);
  if (options === undefined) return { kind: "runner", reason: "may run other programs or write files" };
  const option = options.find((each) => hasOption(args, each));
  if (option === undefined) return PLAIN;
  return { kind: "runner", reason: "runs a program or writes a file by its arguments" };
}

/** Whether a command leaves the files alone that its words name. */
export function onlyReads(command: SimpleCommand): boolean {
  const system = systemName(command);
  if (system === undefined || reachOf(command).kind !== "plain") return false;
  return system === "git" ? gitOnlyReads(argumentsOf(command)) : READERS.has(system);
}

/** Whether a command changes nothing at all: `git commit` leaves the files alone that it names, and changes the history. */
export function changesNothing(command: SimpleCommand): boolean {
  if (systemName(command) !== "git") return onlyReads(command);
  return reachOf(command).kind === "plain" && gitChangesNothing(argumentsOf(command));
}

/** Readers that may show more than the files that their words name: hidden files, whole folders, variables. */
const WIDE: Readonly<Record<string, RegExp>> = {
  printenv: /^/,
  ps: /^/,
  ag: /^/,
  grep: /^-[^-]*[rRd]|^--(?:rec|der|dir)/,
  egrep: /^-[^-]*[rRd]|^--(?:rec|der|dir)/,
  fgrep: /^-[^-]*[rRd]|^--(?:rec|der|dir)/,
  diff: /^-[^-]*r|^--rec/,
  rg: /^-[^-]*[u.LzEf]|^--(?:un|hi|no-ig|fo|se)/,
  ...Object.fromEntries(
    ["jq", "gojq", "jaq"].map((name) => [name, /\benv\b|\$ENV|\$__prog|\b(?:import|include)\b/]),
  ),
  git: /^--(?:no-in|untr|ext|textc)|^(?:ls-remote|help)$/,
};

/** Whether a command shows only what its words name, as they stand there, and changes nothing. */
export function readsOpenly(command: SimpleCommand): boolean {
  const { words, assignments } = command;
  if (assignments > 0 || !words.every(({ literal }) => literal) || !changesNothing(command)) return false;
  const wide = WIDE[systemName(command) ?? ""];
  return !wide || !["", ...argumentsOf(command)].some((argument) => wide.test(argument));
}

/** The words of a command without the options of its program that change nothing about it. */
export function withoutGlobalOptions(command: SimpleCommand): readonly ShellWord[] {
  const { words, assignments } = command;
  if (programOf(command) !== "git") return words;
  const kept = afterGlobalOptions(argumentsOf(command)).length;
  return [...words.slice(0, assignments + 1), ...words.slice(words.length - kept)];
}

/** The program's name without its folder, in lower case; undefined where there are only assignments. */
export function programOf({ words, assignments }: SimpleCommand): string | undefined {
  const path = words[assignments]?.text;
  if (path === undefined) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return name.replace(/\.(?:exe|cmd|bat)$/, "");
}

/** The program's name if the system has it: another folder may have another program of that name. */
function systemName({ words, assignments }: SimpleCommand): string | undefined {
  const path = words[assignments]?.text ?? "";
  const end = path.lastIndexOf("/") + 1;
  return SYSTEM_FOLDERS.has(path.slice(0, end)) ? path.slice(end) : undefined;
}

/** Code that comes over a pipe or from a here-document stands in no word. */
function readsInput(args: readonly string[]): boolean {
  if (args.length === 0) return true;
  return args.every((arg) => arg.startsWith("-")) && args.some((arg) => /^-(?:s|i|l|)$/.test(arg));
}

function argumentsOf({ words, assignments }: SimpleCommand): string[] {
  return words.slice(assignments + 1).map(({ text }) => text);
}

/** `python3.12` is `python3`. */
function withoutVersion(name: string): string {
  return name.replace(/(?:\.[0-9]+)+$/, "");
}
