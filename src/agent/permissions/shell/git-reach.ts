import { type CommandReach, hasOption } from "./programs.ts";

/** Global options that change nothing about the subcommand; rules match the words behind them. */
const HARMLESS = new Set(
  `-P --no-pager --no-optional-locks --no-replace-objects --no-lazy-fetch --no-advice --literal-pathspecs
  --glob-pathspecs --noglob-pathspecs --icase-pathspecs`.split(/\s+/),
);
/** Subcommands that stay with what their words say. Git takes no alias in place of one of them. */
const PLAIN = new Set(
  `add annotate bisect blame branch cat-file check-attr check-ignore check-mailmap check-ref-format cherry cherry-pick
  clean clone commit commit-tree count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref
  format-patch fsck gc grep hash-object help init log ls-files ls-remote ls-tree merge merge-base merge-tree name-rev
  notes pack-refs prune pull push range-diff rebase reflog remote reset restore rev-list rev-parse revert rm shortlog
  show show-branch show-ref sparse-checkout stash status switch symbolic-ref tag verify-commit verify-pack verify-tag
  version write-tree archive bundle checkout checkout-index mv worktree config submodule maintenance
  --version -v --help -h`.split(/\s+/),
);
/** Subcommands that write the files that their words name. */
const WRITES_PATHS = new Set(
  "archive bundle checkout checkout-index clone format-patch init mv restore worktree rm".split(" "),
);
const USES_REMOTES = new Set("archive clone fetch ls-remote pull push remote submodule".split(" "));
/** An address such as `ext::sh -c id`, which names the program that git runs to reach it. */
const TRANSPORT = /(?:^|=)[A-Za-z0-9+.-]+::/;
/** A format that shows a signature, which a program of the settings checks. */
const SIGNATURE = /%G|%\(\*?signature/;
const RUNS = "runs other programs or changes which ones run";
const WRITES = "writes files that its options or its input name";
const EDITS = "opens an editor";
const DISCARDS = "discards or redirects what git keeps";

interface GitRow {
  /** `*` is every subcommand. */
  readonly names: string;
  readonly reason: string;
  /** Options or words; without them, always. */
  readonly when?: string;
}

const RUNNERS: readonly GitRow[] = [
  {
    names: "*",
    reason: RUNS,
    when: `--upload-pack --receive-pack --exec --ext-diff --extcmd --open-files-in-pager --template --config --web
      --separate-git-dir --strategy --show-signature --verify-signatures`,
  },
  { names: "*", reason: WRITES, when: "--output --output-directory --unsafe-paths --in-place" },
  { names: "*", reason: EDITS, when: "--edit --edit-description --interactive" },
  {
    names: `difftool mergetool filter-branch gui citool instaweb send-email imap-send daemon shell upload-pack
      receive-pack upload-archive remote-ext remote-fd credential credential-store credential-cache hook for-each-repo
      fast-import web--browse p4 svn cvsserver cvsimport archimport quiltimport sh-setup submodule--helper`,
    reason: RUNS,
  },
  { names: "apply am interpret-trailers", reason: WRITES },
  { names: "verify-commit verify-tag", reason: RUNS },
  { names: "tag", reason: RUNS, when: "-v --verify" },
  { names: "clone", reason: RUNS, when: "-u -c" },
  { names: "rebase", reason: RUNS, when: "-x -i" },
  // A strategy may be any program whose name begins with git-merge-.
  { names: "merge pull rebase", reason: RUNS, when: "-s" },
  { names: "grep", reason: RUNS, when: "-O" },
  { names: "format-patch archive", reason: WRITES, when: "-o" },
  { names: "bundle", reason: WRITES, when: "create" },
  { names: "add", reason: EDITS, when: "-e -i" },
  { names: "commit", reason: EDITS, when: "-e -c -t" },
  { names: "notes", reason: EDITS, when: "edit" },
  { names: "help", reason: RUNS, when: "-w" },
  { names: "cat-file", reason: RUNS, when: "--textconv --filters" },
  { names: "bisect", reason: RUNS, when: "run visualize view" },
  { names: "submodule", reason: RUNS, when: "foreach" },
  { names: "maintenance", reason: RUNS, when: "start register" },
  { names: "clean prune", reason: DISCARDS },
  { names: "branch", reason: DISCARDS, when: "-d -D -f -M -C --delete --force" },
  { names: "tag", reason: DISCARDS, when: "-d -f --delete --force" },
  { names: "push", reason: DISCARDS, when: "-f -d --force --force-with-lease --delete --mirror --prune" },
  { names: "reset", reason: DISCARDS, when: "--hard --merge --keep" },
  { names: "stash reflog", reason: DISCARDS, when: "drop clear expire delete" },
  { names: "remote", reason: DISCARDS, when: "set-url remove rm prune" },
  { names: "symbolic-ref", reason: DISCARDS, when: "** -d --delete" },
  { names: "notes", reason: DISCARDS, when: "add append copy merge prune remove" },
];
const READS_CONFIG = new Set(["get", "--get"]);
const SECRET_KEY = /url|header|token|pass|cred|secret|proxy|cookie|insteadof/i;

/** The arguments of git from its subcommand on, where only harmless options stand before it. */
export function afterGlobalOptions(args: readonly string[]): readonly string[] {
  const start = args.findIndex((arg) => !HARMLESS.has(arg));
  return start === -1 ? [] : args.slice(start);
}

/** How far a rule can speak for a git command with these arguments. */
export function reachOfGit(args: readonly string[]): CommandReach {
  const [subcommand, ...rest] = afterGlobalOptions(args);
  if (subcommand === undefined) return { kind: "plain" };
  const remote = USES_REMOTES.has(subcommand) ? rest.find((arg) => TRANSPORT.test(arg)) : undefined;
  if (remote !== undefined) return { kind: "runner", reason: `runs the transport of ${remote}` };
  if (rest.some((arg) => SIGNATURE.test(arg))) return { kind: "runner", reason: RUNS };
  if (subcommand.startsWith("-") && !PLAIN.has(subcommand)) {
    return { kind: "runner", reason: `reads another repository or other settings by ${subcommand}` };
  }
  const row = RUNNERS.find(({ names, when }) => {
    if (names !== "*" && !names.split(/\s+/).includes(subcommand)) return false;
    if (when === undefined) return true;
    return when.split(/\s+/).some((option) => hasOption(rest, option));
  });
  if (row) return { kind: "runner", reason: row.reason };
  if (subcommand === "config" && !readsHarmlessConfig(rest)) {
    return { kind: "runner", reason: "changes settings that run programs, or shows logins" };
  }
  if (subcommand === "submodule" && !["status", "summary"].includes(rest[0] ?? "status")) {
    return { kind: "runner", reason: "fetches and checks out other repositories" };
  }
  if (PLAIN.has(subcommand)) return { kind: "plain" };
  return { kind: "runner", reason: `may know ${subcommand} as an alias or another program` };
}

/** Whether git leaves every file alone that these arguments name. */
export function gitOnlyReads(args: readonly string[]): boolean {
  const [subcommand = ""] = afterGlobalOptions(args);
  return PLAIN.has(subcommand) && !WRITES_PATHS.has(subcommand);
}

/** Subcommands that change nothing, whatever their words. */
const LOOKS = new Set(
  `annotate blame cat-file check-attr check-ignore check-mailmap check-ref-format cherry config count-objects describe
  diff diff-files diff-index diff-tree for-each-ref grep help log ls-files ls-remote ls-tree merge-base name-rev
  range-diff rev-list rev-parse shortlog show show-branch show-ref status version --version -v --help -h`.split(
    /\s+/,
  ),
);
/** Words after which a subcommand lists and changes nothing. "" is no further word. */
const LISTS: Readonly<Record<string, RegExp>> = {
  bisect: /^log$/,
  branch:
    /^$|^(?:-[arvl]+|--(?:list|all|remotes|show-current|contains|merged|no-merged|points-at|sort|format|column).*)$/,
  notes: /^(?:|list|show)$/,
  reflog: /^(?:|show|exists)$/,
  remote: /^(?:|-v|--verbose|get-url)$/,
  stash: /^(?:list|show)$/,
  submodule: /^(?:|status|summary)$/,
  tag: /^$|^(?:-l|-n\d*|--(?:list|contains|merged|no-merged|points-at|sort|format|column).*)$/,
  worktree: /^list$/,
};

/** Options by which git takes further words as patterns. Behind another option a word is a new branch or tag. */
const FILTERS = /^(?:-[arv]*l|-n\d*|--(?:list|contains|merged|no-merged|points-at|show-current)(?:=.*)?)$/;

/** Whether git changes nothing at all. Its reach has to be plain. */
export function gitChangesNothing(args: readonly string[]): boolean {
  const [subcommand = "", first = "", ...rest] = afterGlobalOptions(args);
  if (LOOKS.has(subcommand)) return true;
  const options = [first, ...rest].filter((arg) => arg.startsWith("-"));
  const behind = options.some((option) => FILTERS.test(option)) ? options : rest;
  const words = first.startsWith("-") ? [first, ...behind] : [first];
  return words.every((word) => LISTS[subcommand]?.test(word));
}

function readsHarmlessConfig(args: readonly string[]): boolean {
  const [verb = "", key = "", ...more] = args.filter(
    (arg) => !["--global", "--local", "--system"].includes(arg),
  );
  return READS_CONFIG.has(verb) && more.length === 0 && /^[A-Za-z]/.test(key) && !SECRET_KEY.test(key);
}
