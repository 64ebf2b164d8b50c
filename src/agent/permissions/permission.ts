import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import type { ParsedShell } from "./shell/read-word.ts";

export const FILE_SCOPES = ["fs-read", "fs-write", "fs-delete"] as const;
/** The scopes of files. */
export type FileScope = (typeof FILE_SCOPES)[number];
export const PERMISSION_SCOPES = [...FILE_SCOPES, "shell-run", "web", "tool"] as const;
/** The scopes of rules: files, commands, hosts of the web, tools of servers. */
export type PermissionScope = (typeof PERMISSION_SCOPES)[number];

export const PERMISSION_MODES = ["ask", "accept-edits", "plan"] as const;
/**
 * How a person works with the agent: `ask` asks for everything that no rule decides; `accept-edits` lets it change
 * files of the project; `plan` lets it only read.
 */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export interface FileRequest {
  readonly scope: FileScope;
  /** The path as the caller spelled it. */
  readonly given: string;
  /** The absolute path with every link followed. */
  readonly path: string;
}

export interface ShellRequest {
  readonly scope: "shell-run";
  readonly command: string;
  readonly parsed: ParsedShell;
  /** The files that its redirections open. */
  readonly files: readonly FileRequest[];
  /** Paths that its words may name: by command, then by word. */
  readonly mentions: readonly (readonly (readonly string[])[])[];
  /** Whether git may run a program that the repository names, even if its words only read. */
  readonly gitMayRun?: boolean;
}

/** A host of the web, such as `example.com:8080`, or a tool that changes something, by its op. */
export interface NamedRequest {
  readonly scope: "web" | "tool";
  readonly name: string;
  /** Exactly what is about to happen. */
  readonly action: string;
  /** Why it asks without a rule. */
  readonly reason: string;
}

/** Anything that {@link PermissionDecision} is about. */
export type PermissionRequest = FileRequest | ShellRequest | NamedRequest;

/** The verdict of the rules. */
export interface PermissionDecision {
  readonly verdict: "allow" | "ask" | "deny";
  /** The rule that decides, or the reason that none does. */
  readonly reason: string;
}

/** The folders that rules are relative to. */
export interface PermissionPlace {
  /** The project's folder, with every link followed. */
  readonly root: string;
  readonly home: string;
}

const rule = z.string().min(1).max(12_000);
const list = z.array(rule).max(2_000).default([]);

/** The `permissions` of a settings file: lists of rules such as `fs-write(src/**)`. */
const permissionRulesSchema = z.strictObject({ allow: list, ask: list, deny: list });
/** Rules as a settings file has them. */
export type PermissionRules = z.input<typeof permissionRulesSchema>;

/** One rule, such as `fs-write(src/**)`, in its parts. */
export interface PermissionRule {
  readonly text: string;
  readonly scope: PermissionScope;
  readonly pattern: string;
}

export interface RuleSet {
  readonly owner: "project" | "user";
  readonly allow: readonly PermissionRule[];
  readonly ask: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
}

/**
 * Reads rules. An unreadable rule is a problem, because dropping it could allow something.
 * @throws `PERMISSIONS_INVALID`
 */
export function readRules(owner: RuleSet["owner"], rules: unknown): RuleSet {
  const parsed = permissionRulesSchema.safeParse(rules ?? {});
  if (!parsed.success) throw invalid(owner, z.prettifyError(parsed.error));
  const read = (texts: readonly string[]) => texts.map((text) => readRule(owner, text));
  const { allow, ask, deny } = parsed.data;
  const everything = allow.find((text) => /^shell-run\(\s*\*\*?\s*\)$/.test(text));
  if (everything !== undefined) throw invalid(owner, `${everything} must name a command to be allowed`);
  // Tools that only read never ask, so a strict rule could not hold for them.
  const strict = [...ask, ...deny].find((text) => text.startsWith("tool("));
  if (strict !== undefined) throw invalid(owner, `${strict} can only be allowed; a profile hides tools`);
  return { owner, allow: read(allow), ask: read(ask), deny: read(deny) };
}

function readRule(owner: RuleSet["owner"], text: string): PermissionRule {
  const open = text.indexOf("(");
  const scope = PERMISSION_SCOPES.find((each) => each === text.slice(0, open));
  const pattern = text.slice(open + 1, -1);
  if (scope === undefined || !text.endsWith(")") || pattern.trim() === "") {
    throw invalid(
      owner,
      `${JSON.stringify(text)} is not written as scope(pattern), scope being one of ${PERMISSION_SCOPES.join(", ")}`,
    );
  }
  if (scope === "shell-run" && /['\\]/.test(pattern.replace(/'[^']*'|\\./gs, ""))) {
    throw invalid(owner, `${JSON.stringify(text)} has a quote or a backslash without its end`);
  }
  return { text, scope, pattern };
}

function invalid(owner: string, reason: string) {
  return problem("PERMISSIONS_INVALID", { owner, reason });
}
