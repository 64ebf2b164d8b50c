import { nearest } from "../base/util/nearest.ts";

/** Words that a person used to type, and those that do the same now. Goes with the next release. */
interface OldName {
  readonly old: string;
  /** The new words, as the sentence names them. */
  readonly now: string;
  /** The words that run, where the sentence names others. */
  readonly runs?: string;
  /** The words after the old name, as the new one takes them. Undefined if they belong to another row. */
  rewrite?(words: readonly string[], commands: readonly string[]): readonly string[] | undefined;
}

/** A name of more words stands before its first word alone. */
const OLD_NAMES: readonly OldName[] = [
  { old: "servers allow", now: "approve", rewrite: toApproval },
  { old: "servers revoke", now: "approve --revoke" },
  { old: "approve", now: "approve --hash HASH", runs: "approve", rewrite: onlyYes },
  { old: "pins approve", now: "approve", rewrite: toApproval },
  { old: "pins diff", now: "approve" },
  { old: "pins revoke", now: "approve --revoke" },
  { old: "pins", now: "approve", rewrite: (words) => toApproval(withNamedConfig(words)) },
  { old: "trust", now: "approve", rewrite: (words) => toApproval(withFolder(words)) },
  { old: "status", now: "servers" },
  { old: "list", now: "servers" },
  { old: "servers", now: "servers --config", rewrite: onlyFile },
  { old: "token", now: "agents" },
  { old: "daemon status", now: "servers" },
  { old: "daemon stop", now: "serve --stop", rewrite: () => [] },
  { old: "daemon run", now: "serve --daemon" },
  { old: "daemon", now: "serve --help", rewrite: (words) => (isOnlyOptions(words) ? [] : undefined) },
  { old: "run", now: "chat --print", rewrite: toPrompt },
  { old: "help", now: "show", rewrite: onlyPath },
  { old: "exec", now: "call" },
  { old: "get", now: "call, or keyhole show for a document", runs: "get" },
  { old: "batch", now: "script", runs: "batch" },
  { old: "report", now: "catalog report" },
  { old: "lint", now: "catalog lint" },
  { old: "bench", now: "catalog bench" },
  { old: "index build", now: "catalog index" },
  { old: "audit verify", now: "logs verify" },
  { old: "audit tail", now: "logs calls" },
  { old: "audit export", now: "logs calls --all", rewrite: renameOptions({ "--principal": "--agent" }) },
];

/**
 * The command line in the words of today, with a sentence that says so. Undefined if it has no old name.
 *
 * @param commands The names of the commands of today.
 */
export function readOldName(
  words: readonly string[],
  commands: readonly string[],
): { readonly words: readonly string[]; readonly sentence: string } | undefined {
  for (const { old, now, runs = now, rewrite = unchanged } of OLD_NAMES) {
    const name = old.split(" ");
    const isNamed = name.every((word, index) => word === words[index]);
    const more = isNamed ? rewrite(words.slice(name.length), commands) : undefined;
    if (more)
      return { words: [...runs.split(" "), ...more], sentence: `keyhole ${old} is now keyhole ${now}.` };
  }
  return undefined;
}

/** A file in place of a server's name, which has no dot and no slash. */
function onlyFile(words: readonly string[]): readonly string[] | undefined {
  return /^[^-].*[./\\]/.test(words[0] ?? "") ? words : undefined;
}

/** `help` of tools. Help about commands keeps its name. */
function onlyPath(words: readonly string[], commands: readonly string[]): readonly string[] | undefined {
  const [path = "--help"] = words;
  const isOfCommand = ["--help", "-h", ...commands].includes(path) || nearest(path, commands).length > 0;
  return isOfCommand ? undefined : words;
}

/** The prompt of an option becomes words. */
function toPrompt(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => {
    const [, prompt] = /^(?:--prompt=|-p)(.*)$/s.exec(word) ?? [];
    if (word === "--prompt" || prompt === "") return [];
    return [prompt ?? word];
  });
}

function isOnlyOptions(words: readonly string[]): boolean {
  return words.every((word) => word.startsWith("-"));
}

function unchanged(words: readonly string[]): readonly string[] {
  return words;
}

/** Renames options, also those with their value in the same word. */
function renameOptions(names: Readonly<Record<string, string>>) {
  return (words: readonly string[]): readonly string[] =>
    words.map((word) => {
      const [option = "", ...value] = word.split("=");
      return Object.hasOwn(names, option) ? [names[option], ...value].join("=") : word;
    });
}

/** `--all` is what `approve` does without a name. */
function toApproval(words: readonly string[]): readonly string[] {
  const rename = renameOptions({ "--yes": "--hash", "--end": "--revoke" });
  return rename(words.filter((word) => word !== "--all"));
}

/** `--yes HASH` of `approve`. */
function onlyYes(words: readonly string[]): readonly string[] | undefined {
  return words.some((word) => /^--yes(=|$)/.test(word)) ? toApproval(words) : undefined;
}

/** The config that stood alone. */
function withNamedConfig(words: readonly string[]): readonly string[] {
  const [first = "-"] = words;
  return first.startsWith("-") ? words : ["--config", ...words];
}

/** A folder is written with a slash or a dot at its start; the default was the folder that the person stands in. */
function withFolder(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word, index) => !word.startsWith("-") && words[index - 1] !== "--yes");
  if (at < 0) return [".", ...words];
  return words.map((word, index) => (index !== at || /^[./~\\]/.test(word) ? word : `./${word}`));
}
