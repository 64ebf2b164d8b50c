import { resolve } from "node:path";
import { concernsCommand, coversCommand, matchesPath } from "./match-rule.ts";
import type {
  Decision,
  FileRequest,
  PermissionPlace,
  PermissionRequest,
  ShellRequest,
} from "./permission.ts";
import type { Rule, RuleSet } from "./permission-rules.ts";
import { isSensitivePath } from "./sensitive-path.ts";
import type { SimpleCommand } from "./shell/shell-command.ts";

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/**
 * What the rules say about a request. The strictest of all that speak decides, whoever wrote it, so that a
 * project cannot allow what its user denies. Changes nothing and reads nothing.
 */
export function decide(
  request: PermissionRequest,
  rules: readonly RuleSet[],
  place: PermissionPlace,
): Decision {
  return request.scope === "shell-run"
    ? decideCommand(request, rules, place)
    : decideFile(request, rules, place);
}

/** Whether the path is the project's folder or in it. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}

function decideFile(request: FileRequest, rules: readonly RuleSet[], place: PermissionPlace): Decision {
  const { scope, path } = request;
  const inside = isInside(path, place.root);
  // What a rule or a name is strict about, it is strict about under its own name and behind a link.
  const names = [path, resolve(place.root, request.given)];
  const find = (list: "allow" | "ask" | "deny") =>
    firstRule(rules, list, (rule, { owner }) => {
      if (rule.scope !== scope) return false;
      // A project cannot open what lies outside of it.
      if (list === "allow" && owner === "project" && !inside) return false;
      if (list === "allow") return matchesPath(rule, path, place, false);
      return names.some((name) => matchesPath(rule, name, place, true));
    });
  const denied = find("deny");
  if (denied) return { verdict: "deny", reason: denied };
  if (names.some((name) => isSensitivePath(name, place.root, scope)))
    return ask("The path is a sensitive one.");
  const asked = find("ask");
  if (asked) return ask(asked);
  const allowed = find("allow");
  if (allowed) return { verdict: "allow", reason: allowed };
  if (!inside) return ask("The path is outside of the project.");
  if (scope === "fs-read") return { verdict: "allow", reason: "Reading inside the project is allowed." };
  return ask(`No rule allows ${scope} there.`);
}

function decideCommand(request: ShellRequest, rules: readonly RuleSet[], place: PermissionPlace): Decision {
  const { parsed } = request;
  if (!parsed.ok) {
    const everything = firstRule(
      rules,
      "deny",
      ({ scope, pattern }) => scope === "shell-run" && pattern.trim() === "*",
    );
    if (everything) return { verdict: "deny", reason: everything };
    return ask(`The command is not understood: ${parsed.reason}.`);
  }
  const decisions = [
    ...parsed.commands.map((command, index) =>
      decideSimple(command, request.mentions[index] ?? [], rules, place),
    ),
    ...request.files.map((file) => decideFile(file, rules, place)),
    ...parsed.redirections
      .filter(({ target }) => !target.literal)
      .map(() => ask("A redirection's target expands.")),
  ];
  const strictest = decisions.reduce<Decision | undefined>(stricter, undefined);
  return strictest ?? ask("There is no command.");
}

function decideSimple(
  command: SimpleCommand,
  mentions: readonly (readonly string[])[],
  rules: readonly RuleSet[],
  place: PermissionPlace,
): Decision {
  const concerning = (list: "ask" | "deny") =>
    firstRule(rules, list, (rule) => rule.scope === "shell-run" && concernsCommand(rule, command));
  const denied = concerning("deny");
  if (denied) return { verdict: "deny", reason: denied };
  const paths = mentions.flat();
  if (paths.some((path) => isSensitivePath(path, place.root, "fs-read"))) {
    return ask("It names a sensitive path.");
  }
  const guarded = (["deny", "ask"] as const)
    .map((list) =>
      firstRule(rules, list, (rule) => {
        return rule.scope !== "shell-run" && paths.some((path) => matchesPath(rule, path, place, true));
      }),
    )
    .find((found) => found !== undefined);
  if (guarded) return ask(`It names a path. ${guarded}`);
  const asked = concerning("ask");
  if (asked) return ask(asked);
  // Only the rule's own words may lead outside: what its star stands for may not.
  const leaves = mentions
    .slice(command.assignments + 1)
    .flat()
    .some((path) => !isInside(path, place.root));
  const allowed = firstRule(rules, "allow", (rule) => {
    if (rule.scope !== "shell-run") return false;
    const covered = coversCommand(rule, command);
    return covered === "exactly" || (covered === "wide" && !leaves);
  });
  if (allowed) return { verdict: "allow", reason: allowed };
  return ask(`No rule allows ${command.words.map(({ text }) => text).join(" ")}.`);
}

function firstRule(
  rules: readonly RuleSet[],
  list: "allow" | "ask" | "deny",
  matches: (rule: Rule, set: RuleSet) => boolean,
): string | undefined {
  for (const set of rules) {
    const rule = set[list].find((each) => matches(each, set));
    if (rule) return `The ${set.owner}'s rules ${list}: ${rule.text}`;
  }
  return undefined;
}

function ask(reason: string): Decision {
  return { verdict: "ask", reason };
}

function stricter(one: Decision | undefined, other: Decision): Decision {
  return one === undefined || STRICTNESS[other.verdict] > STRICTNESS[one.verdict] ? other : one;
}
