import { resolve } from "node:path";
import { compileGlob } from "./match-glob.ts";
import { concernsCommand, coversCommand, matchesPath, namesOnePath } from "./match-rule.ts";
import type {
  FileRequest,
  NamedRequest,
  PermissionDecision,
  PermissionPlace,
  PermissionRequest,
  PermissionRule,
  RuleSet,
  ShellRequest,
} from "./permission.ts";
import { holdsSecrets, isInside, runsLater } from "./sensitive-path.ts";
import { changesNothing, onlyReads, programOf, reachOf, readsOpenly } from "./shell/command-reach.ts";
import type { SimpleCommand } from "./shell/read-word.ts";

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/**
 * Decides on a request by rules. The strictest rule wins, whoever wrote it, so that a project cannot allow a thing
 * that its user denies. Pure: it reads and changes nothing.
 */
export function decide(
  request: PermissionRequest,
  rules: readonly RuleSet[],
  place: PermissionPlace,
): PermissionDecision {
  if (request.scope === "shell-run") return decideCommand(request, rules, place);
  return "name" in request ? decideNamed(request, rules) : decideFile(request, rules, place);
}

/** Strict rules hold for a host on any port too. */
function decideNamed({ scope, name, reason }: NamedRequest, rules: readonly RuleSet[]): PermissionDecision {
  const host = name.replace(/:\d+$/, "");
  const find = (list: "allow" | "ask" | "deny") =>
    firstRule(rules, list, (rule) => {
      if (rule.scope !== scope) return false;
      const fits = compileGlob(rule.pattern.toLowerCase());
      return fits(name.toLowerCase()) || (list !== "allow" && fits(host.toLowerCase()));
    });
  const denied = find("deny");
  if (denied) return { verdict: "deny", reason: denied };
  const asked = find("ask");
  if (asked) return ask(asked);
  const allowed = find("allow");
  return allowed ? { verdict: "allow", reason: allowed } : ask(reason);
}

/** The reason to refuse a request in plan mode; undefined for one that only reads. */
export function refusedInPlan(request: PermissionRequest): string | undefined {
  if (request.scope === "fs-read" || request.scope === "web") return undefined;
  const reads =
    request.scope === "shell-run" &&
    request.parsed.ok &&
    request.parsed.commands.every(changesNothing) &&
    request.files.every(({ scope }) => scope === "fs-read");
  return reads ? undefined : PLANNING;
}

const PLANNING =
  "The person is in plan mode: nothing may be changed. Read what you need, and answer with a plan.";

function decideFile(
  request: FileRequest,
  rules: readonly RuleSet[],
  place: PermissionPlace,
): PermissionDecision {
  const { scope, path } = request;
  const inside = isInside(path, place.root);
  // Strict rules and names count for the path as it was given and for where its links lead.
  const names = [path, resolve(place.root, request.given)];
  const find = (list: "allow" | "ask" | "deny", onlyNamed = false) =>
    firstRule(rules, list, (rule, { owner }) => {
      if (rule.scope !== scope || (onlyNamed && !namesOnePath(rule))) return false;
      // A project's rules open nothing outside of it.
      if (list === "allow" && owner === "project" && !inside) return false;
      if (list === "allow") return matchesPath(rule, path, place, false);
      return names.some((name) => matchesPath(rule, name, place, true));
    });
  const denied = find("deny");
  if (denied) return { verdict: "deny", reason: denied };
  if (names.some((name) => holdsSecrets(name, place.root))) return ask("The path may hold keys or logins.");
  const later = scope === "fs-read" ? undefined : strictestRun(names, place.root);
  if (later === "always") return ask("Programs run what is written there.");
  const asked = find("ask");
  if (asked) return ask(asked);
  const allowed = find("allow", scope === "fs-write" && later === "build");
  if (allowed) return { verdict: "allow", reason: allowed };
  if (!inside) return ask("The path is outside of the project.");
  if (scope === "fs-read") return { verdict: "allow", reason: "Reading inside the project is allowed." };
  if (later === "build") return ask("Programs run what is written there; no rule names the file itself.");
  return ask(`No rule allows ${scope} there.`);
}

function strictestRun(paths: readonly string[], root: string): "always" | "build" | undefined {
  const runs = paths.map((path) => runsLater(path, root));
  return runs.includes("always") ? "always" : runs.find((each) => each === "build");
}

function decideCommand(
  request: ShellRequest,
  rules: readonly RuleSet[],
  place: PermissionPlace,
): PermissionDecision {
  const { parsed } = request;
  if (!parsed.ok) {
    const everything = firstRule(
      rules,
      "deny",
      ({ scope, pattern }) => scope === "shell-run" && /^\*\*?$/.test(pattern.trim()),
    );
    if (everything) return { verdict: "deny", reason: everything };
    return ask(`The command is not understood: ${parsed.reason}.`);
  }
  const decisions = [
    ...parsed.commands.map((command, index) =>
      decideSimple(command, request.mentions[index] ?? [], rules, place, request.gitMayRun),
    ),
    ...request.files.map((file) => decideFile(file, rules, place)),
    ...parsed.redirections
      .filter(({ target }) => !target.literal)
      .map(() => ask("A redirection's target expands.")),
  ];
  const [strictest] = decisions.sort((one, other) => STRICTNESS[other.verdict] - STRICTNESS[one.verdict]);
  return strictest ?? ask("There is no command.");
}

function decideSimple(
  command: SimpleCommand,
  mentions: readonly (readonly string[])[],
  rules: readonly RuleSet[],
  place: PermissionPlace,
  gitMayRun = false,
): PermissionDecision {
  const concerning = (list: "ask" | "deny") =>
    firstRule(rules, list, (rule) => rule.scope === "shell-run" && concernsCommand(rule, command));
  const denied = concerning("deny");
  if (denied) return { verdict: "deny", reason: denied };
  const paths = mentions.flat();
  if (paths.some((path) => holdsSecrets(path, place.root))) {
    return ask("It names a path that may hold keys or logins.");
  }
  const later = onlyReads(command) ? undefined : strictestRun(argumentPaths(command, mentions), place.root);
  if (later === "always") return ask("It may write where programs run what is written.");
  const namesPath = (rule: PermissionRule) =>
    rule.scope !== "shell-run" && paths.some((path) => matchesPath(rule, path, place, true));
  const guarded = firstRule(rules, "deny", namesPath) ?? firstRule(rules, "ask", namesPath);
  if (guarded) return ask(`It names a path. ${guarded}`);
  const asked = concerning("ask");
  if (asked) return ask(asked);
  // Only the rule's own words may lead outside or to a build file: the words behind its star may not.
  const leaves = argumentPaths(command, mentions).some((path) => !isInside(path, place.root));
  const allowed = firstRule(rules, "allow", (rule) => {
    if (rule.scope !== "shell-run") return false;
    const covered = coversCommand(rule, command);
    return covered === "exactly" || (covered === "wide" && !leaves && later === undefined);
  });
  if (allowed) return { verdict: "allow", reason: allowed };
  // A command may read without a question everything that the tools for files may read so.
  if (readsOpenly(command) && !leaves) {
    if (gitMayRun && programOf(command) === "git") return ask("The repository may name a program to run.");
    return { verdict: "allow", reason: "It only reads inside the project." };
  }
  return ask(reasonToAsk(command, later));
}

function argumentPaths(
  { assignments }: SimpleCommand,
  mentions: readonly (readonly string[])[],
): readonly string[] {
  return mentions.slice(assignments + 1).flat();
}

function reasonToAsk(command: SimpleCommand, later: "build" | undefined): string {
  const words = command.words.map(({ text }) => text).join(" ");
  const reach = reachOf(command);
  const because =
    reach.kind === "plain" ? "" : ` ${programOf(command) ?? "It"} ${reach.reason}${NEEDED_RULE[reach.kind]}`;
  return `No rule allows ${words}.${because}${later ? " It may write a file that builds run." : ""}`;
}

const NEEDED_RULE = {
  runner: ": only a rule with all its words or with ** at its end allows it.",
  wrapper: ": only a rule with all its words allows it.",
  opaque: ": no rule allows it.",
} as const;

function firstRule(
  rules: readonly RuleSet[],
  list: "allow" | "ask" | "deny",
  matches: (rule: PermissionRule, set: RuleSet) => boolean,
): string | undefined {
  for (const set of rules) {
    const rule = set[list].find((each) => matches(each, set));
    if (rule) return `The ${set.owner}'s rules ${list}: ${rule.text}`;
  }
  return undefined;
}

function ask(reason: string): PermissionDecision {
  return { verdict: "ask", reason };
}
