import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isProblem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { CallContext } from "../../core/nouns/entry.ts";
import { decide, refusedInPlan } from "./decide.ts";
import { escapeGlob } from "./match-glob.ts";
import { toCommandRule, toWiderRule } from "./match-rule.ts";
import {
  type FileScope,
  type PermissionMode,
  type PermissionPlace,
  type PermissionRequest,
  type PermissionRules,
  type PermissionScope,
  readRules,
} from "./permission.ts";
import { holdsSecrets, isInside } from "./sensitive-path.ts";
import { showExactly, toFileRequest, toShellRequest } from "./to-request.ts";

/** A question for a person. Show every text whole, in pages if need be. */
export interface PermissionQuestion {
  readonly scope: PermissionScope;
  readonly action: "read file" | "write file" | "delete file" | "run command" | "read from the web";
  /** The path with its links followed, the whole command, or the address. */
  readonly resource: string;
  /** The path as the caller spelled it, if that differs. */
  readonly given?: string;
  /** Why the rules do not decide. */
  readonly reason: string;
  /** The folder that a command runs in. */
  readonly folder?: string;
  /** The change of a file as a unified diff, or the reason that it cannot be shown. */
  readonly diff?: string;
  /** The rules that `always` writes; empty if it is not offered. */
  readonly always: readonly string[];
  /** Wider rules, which a person may begin with who writes the rules themselves. */
  readonly wider?: readonly string[];
  /** The file that `always` writes them to. */
  readonly keptIn?: string;
}

/**
 * A person's answer. `session` allows the same request until the session ends, `always` by the rules of the question or
 * by rules that the person has written. `deny` with words tells the model why, or what to do instead. `nobody` denies
 * because there is no person.
 */
export type PermissionAnswer =
  | ("once" | "session" | "always" | "deny" | "nobody")
  | { readonly deny: string }
  | { readonly always: readonly string[] };

/** The change that a write would make, as a unified diff. Made only for a question. */
export type Preview = (path: string) => Promise<string>;

/** Keeps the rules of the answer `always`. */
export interface RuleStore {
  /** Names its place for the person. */
  readonly place?: string;
  allow(rules: readonly string[]): Promise<void>;
}

/** Options of {@link createPermissions}. */
export interface PermissionsOptions {
  /** The project's folder. */
  readonly root: string;
  readonly home?: string;
  /** Rules of the project's settings. Leave them out for a folder that the user has not trusted. */
  readonly project?: PermissionRules;
  readonly user?: PermissionRules;
  /** Asks a person. Default: the person whom the call asks about everything else; without one, the answer is no. */
  readonly ask?: (question: PermissionQuestion, signal?: AbortSignal) => Promise<PermissionAnswer>;
  /** Without it, `always` is not offered. */
  readonly store?: RuleStore;
  /** The mode now. Default: `ask`. */
  readonly mode?: () => PermissionMode;
}

/** Whether a request may go on, and why. */
export interface PermissionOutcome {
  readonly allowed: boolean;
  readonly reason: string;
  /** The next step of the model, if the refusal says one. */
  readonly next?: string;
}

/** The call that needs a permission: its person is asked if the permissions have no `ask` of their own. */
export interface InCall extends Pick<CallContext, "ask"> {
  readonly signal?: AbortSignal | undefined;
}

/** Decides for tools, asks a person where rules do not decide, and remembers the answers of this session. */
export interface Permissions {
  /** The project's folder with every link followed. */
  readonly root: string;
  /** Decides on a path. Use the `path` of the outcome, not the one that was given. */
  file(
    scope: FileScope,
    given: string,
    options?: InCall & { readonly preview?: Preview },
  ): Promise<PermissionOutcome & { readonly path: string }>;
  /** Decides on a command that runs in the project's folder. */
  command(command: string, signal?: AbortSignal, ask?: CallContext["ask"]): Promise<PermissionOutcome>;
  /** Decides on reading an address of the web. `more` is what the person should know about its host. */
  web(url: URL, more: string, call?: InCall): Promise<PermissionOutcome>;
  /** The rules about a tool of a server: whether one allows it, and those that `always` keeps. */
  tool(op: string): Pick<PermissionQuestion, "always" | "keptIn"> & {
    readonly isAllowed: boolean;
    /** Keeps the rules of `always`. */
    keep(): Promise<void>;
  };
  /** Whether a file in a permitted folder may be read along with it. Asks nobody. */
  mayRead(path: string): boolean;
}

const ACTIONS = {
  "fs-read": "read file",
  "fs-write": "write file",
  "fs-delete": "delete file",
  "shell-run": "run command",
} as const;

/**
 * Decides what an agent may do in a folder, by rules and by asking. See {@link workspaceDomain}.
 *
 * @throws PERMISSIONS_INVALID for rules that cannot be read
 * @example
 * ```ts
 * import { createPermissions } from "keyhole/agent";
 *
 * const permissions = createPermissions({ root: process.cwd(), user: { allow: ["shell-run(git status)"] } });
 * console.assert((await permissions.command("git status")).allowed);
 * console.assert(!(await permissions.command("git push")).allowed);
 * ```
 */
export function createPermissions(options: PermissionsOptions): Permissions {
  const place = { root: realpathSync(options.root), home: options.home ?? homedir() };
  const own = [readRules("project", options.project), readRules("user", options.user)];
  const session = new Set<string>();
  let always: readonly string[] = [];
  /** Questions wait for each other, because an answer may settle the next one. */
  let turn: Promise<unknown> = Promise.resolve();

  const rulesNow = () => [
    ...own,
    readRules("user", { allow: [...always] }),
    ...(options.mode?.() === "accept-edits" ? [EDITS] : []),
  ];

  async function check(
    request: PermissionRequest,
    { signal, ask: byCall }: InCall = {},
    preview?: () => Promise<string>,
  ): Promise<PermissionOutcome> {
    const ask = options.ask ?? (byCall && askByCall(byCall));
    return (
      settle(request) ?? (await inTurn(() => settle(request) ?? question(request, ask, signal, preview)))
    );
  }

  /** The outcome, if it needs no question. */
  function settle(request: PermissionRequest): PermissionOutcome | undefined {
    const planned = options.mode?.() === "plan" ? refusedInPlan(request) : undefined;
    if (planned !== undefined) return { allowed: false, reason: planned };
    const { verdict, reason } = decide(request, rulesNow(), place);
    if (verdict !== "ask") return { allowed: verdict === "allow", reason };
    if (session.has(keyOf(request))) return { allowed: true, reason: "It was allowed for this session." };
    return undefined;
  }

  /** The rules that `always` would keep, and where. */
  function offered(request: PermissionRequest) {
    const rules = options.store ? allowing(request, exactRules(request, place)) : [];
    const wider = rules.length === 0 ? [] : allowing(request, widerRules(request));
    return {
      always: rules,
      ...(wider.length > 0 && { wider }),
      ...(rules.length > 0 && options.store?.place && { keptIn: showExactly(options.store.place) }),
    };
  }

  /** Those of the rules that the request lacks, if they can be shown and allow it; otherwise none. */
  function allowing(request: PermissionRequest, rules: readonly string[]): readonly string[] {
    const allows = (some: readonly string[]) => decide(request, withAllowed(some), place).verdict === "allow";
    if (!allows(rules)) return [];
    const lacking = rules.reduce((kept, rule) => {
      const others = kept.filter((other) => other !== rule);
      return allows(others) ? others : [...others, rule];
    }, rules);
    return lacking.some((rule) => rule !== showExactly(rule) || rule.includes("\n")) ? [] : lacking;
  }

  function withAllowed(rules: readonly string[]) {
    return [...rulesNow(), readRules("user", { allow: [...rules] })];
  }

  /** Why rules that a person has written do not allow the request; undefined if they do. */
  function mistakeIn(rules: readonly string[], request: PermissionRequest): string | undefined {
    try {
      const { verdict, reason } = decide(request, withAllowed(rules), place);
      return verdict === "allow" ? undefined : `${rules.join(" ")} does not allow it. ${reason}`;
    } catch (error) {
      return reasonOf(error);
    }
  }

  async function keep(rules: readonly string[]): Promise<string | undefined> {
    always = [...always, ...rules];
    return options.store?.allow(rules).then(() => undefined, reasonOf);
  }

  async function question(
    request: PermissionRequest,
    ask: AskPermission | undefined,
    signal: AbortSignal | undefined,
    preview: (() => Promise<string>) | undefined,
    mistake?: string,
  ): Promise<PermissionOutcome> {
    const offer = offered(request);
    const isUnruled = options.store && request.scope === "shell-run" && offer.always.length === 0;
    const reason = mistake ?? decide(request, rulesNow(), place).reason;
    let answer: PermissionAnswer | undefined;
    const unasked = { allowed: false, reason: `${reason} Nobody is there to ask.`, next: WITHOUT };
    if (!ask) return unasked;
    try {
      signal?.throwIfAborted();
      const diff = await preview?.().catch((error: unknown) => `Nothing to show: ${reasonOf(error)}`);
      answer = await ask(
        {
          ...toQuestion(request, reason + (isUnruled ? UNRULED : ""), place),
          ...offer,
          ...(diff !== undefined && { diff: diff.split("\t").map(showExactly).join("\t") }),
        },
        signal,
      );
    } catch (error) {
      // The call ends here, and is made again with the answer.
      if (isProblem(error) && error.code === "APPROVAL_REQUIRED") throw error;
      return { allowed: false, reason: `The question was not answered: ${reasonOf(error)}` };
    }
    if (answer === "nobody") return unasked;
    // The answer may come after the call was cancelled.
    if (signal?.aborted) return { allowed: false, reason: "The call was cancelled." };
    const written = typeof answer === "object" && "always" in answer ? answer.always : undefined;
    const wrong = written && mistakeIn(written, request);
    if (wrong !== undefined) return question(request, ask, signal, preview, wrong);
    const rules = written ?? (answer === "always" ? offer.always : []);
    // Without a rule to keep, `always` lasts as long as the session.
    if (answer === "session" || (answer === "always" && rules.length === 0)) session.add(keyOf(request));
    const failure = rules.length > 0 ? await keep(rules) : undefined;
    if (failure !== undefined)
      return { allowed: true, reason: `The person allowed it; the rule is not kept: ${failure}` };
    return toOutcome(answer);
  }

  function inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  }

  return {
    root: place.root,
    async file(scope, given, { preview, ...call } = {}) {
      const request = await toFileRequest(scope, given, place.root);
      const { path } = request;
      return { ...(await check(request, call, preview && (() => preview(path)))), path };
    },
    async command(command, signal, ask) {
      return check(await toShellRequest(command, place.root), { signal, ask });
    },
    web(url, more, call) {
      const reason = `Nothing was read from ${url.host} in this session. The address itself may tell the host something.${more}`;
      return check({ scope: "web", name: url.host, action: url.href, reason }, call);
    },
    tool(op) {
      const request = { scope: "tool", name: op, action: op, reason: "" } as const;
      const { always: rules, keptIn } = offered(request);
      return {
        isAllowed: decide(request, rulesNow(), place).verdict === "allow",
        always: rules,
        ...(keptIn !== undefined && { keptIn }),
        keep: async () => void (await keep(rules)),
      };
    },
    mayRead(path) {
      const { verdict } = decide({ scope: "fs-read", given: path, path }, rulesNow(), place);
      if (verdict !== "ask") return verdict === "allow";
      return !isInside(path, place.root) && !holdsSecrets(path, place.root);
    },
  };
}

const UNRULED = " “Always” is not offered: no rule covers all of the command.";
const WITHOUT = "Go on without it, and say in the answer what it was needed for.";
const EDITS = readRules("user", { allow: ["fs-write(**)"] });

function toOutcome(answer: PermissionAnswer | undefined): PermissionOutcome {
  if (answer === "once" || answer === "session" || answer === "always")
    return { allowed: true, reason: "The person allowed it." };
  if (typeof answer !== "object") return { allowed: false, reason: "The person refused." };
  if ("always" in answer) return { allowed: true, reason: "The person allowed it." };
  return {
    allowed: false,
    reason: `The person refused, and says: ${answer.deny}`,
    next: "Do what the person says.",
  };
}

type AskPermission = (question: PermissionQuestion, signal?: AbortSignal) => Promise<PermissionAnswer>;

/** Asks by the call that a tool runs in. */
function askByCall(ask: NonNullable<CallContext["ask"]>): AskPermission {
  return async (question) => {
    const { action, resource, given, folder, ...more } = question;
    const spelled = given === undefined ? "" : ` (given as ${given})`;
    const place = folder === undefined ? "" : `\nin the folder: ${folder}`;
    const answer = await ask({ ...more, action: `${action}: ${resource}${spelled}${place}` });
    if (answer === false) return "nobody";
    if (answer === true) return "once";
    if (answer === "declined") return "deny";
    if (!("by" in answer)) return { deny: answer.declined };
    return answer.rules ? { always: answer.rules } : (answer.lasts ?? "once");
  };
}

function toQuestion(
  request: PermissionRequest,
  reason: string,
  { root }: PermissionPlace,
): Omit<PermissionQuestion, "always"> {
  const shown = showExactly(reason);
  if ("name" in request) {
    const { scope, action } = request;
    return { scope, action: "read from the web", resource: showExactly(action), reason: shown };
  }
  const { scope } = request;
  const common = { scope, action: ACTIONS[scope], reason: shown };
  if (request.scope === "shell-run")
    return { ...common, resource: showExactly(request.command), folder: showExactly(root) };
  const { path, given } = request;
  return { ...common, resource: showExactly(path), ...(given !== path && { given: showExactly(given) }) };
}

/** The rules that allow exactly this request; none if no rule can. */
function exactRules(request: PermissionRequest, place: PermissionPlace): string[] {
  if ("name" in request) return [`${request.scope}(${escapeGlob(request.name)})`];
  if (request.scope !== "shell-run") return [fileRule(request.scope, request.path, place)];
  if (!request.parsed.ok || request.parsed.hasHereDocument) return [];
  const commands = request.parsed.commands.map(({ words }) => toCommandRule(words));
  return [...commands, ...request.files.map(({ scope, path }) => fileRule(scope, path, place))];
}

/** Rules for the same program and its first words, with any words behind them. */
function widerRules(request: PermissionRequest): string[] {
  if (request.scope !== "shell-run" || !request.parsed.ok || request.files.length > 0) return [];
  return request.parsed.commands.map(toWiderRule);
}

function fileRule(scope: FileScope, path: string, { root }: PermissionPlace): string {
  const relative = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  // A pattern that starts with `~/` or `./` would mean another path.
  const plain = relative.startsWith("~/") || relative.startsWith("./") ? path : relative;
  return `${scope}(${escapeGlob(plain)})`;
}

/** A key that holds everything the decision depended on. */
function keyOf(request: PermissionRequest): string {
  if ("name" in request) return JSON.stringify([request.scope, request.name]);
  if (request.scope !== "shell-run") return JSON.stringify([request.scope, request.path]);
  return JSON.stringify([
    "shell-run",
    request.command,
    request.files.map(({ path }) => path),
    request.mentions,
  ]);
}
