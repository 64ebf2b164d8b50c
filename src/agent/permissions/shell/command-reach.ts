import { afterGlobalOptions, gitOnlyReads, reachOfGit } from "./git-reach.ts";
import { hasOption, type ProgramRow, type RuleScope } from "./program-row.ts";
import { PROGRAM_TABLE, READERS } from "./program-table.ts";
import type { ShellWord, SimpleCommand } from "./read-word.ts";

const STRICTNESS = { plain: 0, named: 1, exact: 2, opaque: 3 } as const;
const SHOWS_VERSION = new Set(["--version", "--help", "-V"]);
const ROWS = rowsByName();

/** How far a rule can speak for a command, and why. */
export function reachOf(command: SimpleCommand): RuleScope {
  const name = programOf(command);
  if (name === undefined) return { kind: "opaque", reason: "sets variables for later commands" };
  const args = argumentsOf(command);
  return reachOfProgram(name, args);
}

function reachOfProgram(name: string, args: string[]): RuleScope {
  if (name === "git") return reachOfGit(args);
  // The first word of tar may be its options, without a dash.
  if (/tar$/.test(name) && args[0] !== undefined && !args[0].startsWith("-")) args[0] = `-${args[0]}`;
  const rows = ROWS.get(name) ?? ROWS.get(withoutVersion(name)) ?? [];
  return rows.map((row) => reachOfRow(row, args)).reduce(strictest, { kind: "plain" });
}

/** Whether a command leaves the files alone that its words name. */
export function onlyReads(command: SimpleCommand): boolean {
  const name = programOf(command);
  if (name === undefined || reachOf(command).kind !== "plain") return false;
  return name === "git" ? gitOnlyReads(argumentsOf(command)) : READERS.has(name);
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
  const word = words[assignments];
  return word && baseName(word.text);
}

function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return name.replace(/\.(?:exe|cmd|bat)$/, "");
}

function reachOfRow(row: ProgramRow, given: readonly string[]): RuleScope {
  const { kind, reason, when, unless = "", oneDash = false, depth = 1 } = row;
  const args = withoutOptions(given, row);
  const plain = { kind: "plain" } as const;
  if (when !== undefined && !wordsOf(when).some((option) => hasOption(args, option, oneDash))) return plain;
  if (wordsOf(unless).some((words) => words.split(".").every((word, at) => args[at] === word))) return plain;
  if (kind === "opaque" || kind === "exact") return { kind, reason };
  if (kind !== "shell" && args.length === 1 && SHOWS_VERSION.has(args[0] ?? "")) return plain;
  if (kind === "named") return row.runs ? toInner(args, depth, reason) : toNamed(args, depth, reason);
  if (args.length === 0 || readsInput(args))
    return { kind: "opaque", reason: "runs what it reads from its input" };
  return kind === "shell" ? { kind: "exact", reason } : toNamed(args, depth, reason);
}

/** A rule cannot name an option: it could be code itself, or change what the next word means. */
function toNamed(args: readonly string[], depth: number, reason: string): RuleScope {
  const named = args.slice(0, depth);
  const isNamed = named.length === depth && named.every((arg) => !/^[-+]/.test(arg));
  return isNamed ? { kind: "named", depth, reason } : { kind: "exact", reason };
}

/** A runner reaches as far as the program that it runs. */
function toInner(args: readonly string[], depth: number, reason: string): RuleScope {
  const outer = toNamed(args, depth, reason);
  if (outer.kind !== "named") return outer;
  const inner = reachOfProgram(baseName(args[depth - 1] ?? ""), args.slice(depth));
  if (inner.kind === "plain") return outer;
  if (inner.kind === "named") return { ...outer, depth: depth + inner.depth };
  return { kind: "exact", reason };
}

function strictest(one: RuleScope, other: RuleScope): RuleScope {
  if (one.kind === "named" && other.kind === "named") return one.depth > other.depth ? one : other;
  return STRICTNESS[other.kind] > STRICTNESS[one.kind] ? other : one;
}

function withoutOptions(args: readonly string[], row: ProgramRow): readonly string[] {
  const [first = "", ...rest] = args;
  if (wordsOf(row.flags ?? "").includes(first)) return withoutOptions(rest, row);
  if (wordsOf(row.values ?? "").includes(first)) return withoutOptions(rest.slice(1), row);
  return args;
}

/** Code that comes over a pipe or from a here-document stands in no word. */
function readsInput(args: readonly string[]): boolean {
  return args.every((arg) => arg.startsWith("-")) && args.some((arg) => /^-(?:s|i|l|)$/.test(arg));
}

function argumentsOf({ words, assignments }: SimpleCommand): string[] {
  return words.slice(assignments + 1).map(({ text }) => text);
}

/** `python3.12` is `python3`. */
function withoutVersion(name: string): string {
  return name.replace(/(?:\.[0-9]+)+$/, "");
}

function rowsByName(): ReadonlyMap<string, readonly ProgramRow[]> {
  const rows = PROGRAM_TABLE.flatMap((row) => wordsOf(row.names).map((name) => [name, row] as const));
  return new Map(
    [...Map.groupBy(rows, ([name]) => name)].map(([name, pairs]) => [name, pairs.map(([, row]) => row)]),
  );
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
