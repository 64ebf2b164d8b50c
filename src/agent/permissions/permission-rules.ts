import { z } from "zod";
import { problem } from "../../schema/problem.ts";
import { PERMISSION_SCOPES, type PermissionScope } from "./permission.ts";

const rule = z.string().min(1).max(12_000);
const list = z.array(rule).max(2_000).default([]);

/** The `permissions` of a settings file: lists of rules such as `fs-write(src/**)`. */
export const permissionRulesSchema = z.strictObject({ allow: list, ask: list, deny: list });
/** Rules as a settings file has them. */
export type PermissionRules = z.input<typeof permissionRulesSchema>;

/** One rule, such as `fs-write(src/**)`, in its parts. */
export interface Rule {
  readonly text: string;
  readonly scope: PermissionScope;
  readonly pattern: string;
}

/** The rules of one owner. */
export interface RuleSet {
  readonly owner: "project" | "user";
  readonly allow: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly deny: readonly Rule[];
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
  const everything = allow.find((text) => /^shell-run\(\s*\*\s*\)$/.test(text));
  if (everything !== undefined) throw invalid(owner, `${everything} must name a command to be allowed`);
  return { owner, allow: read(allow), ask: read(ask), deny: read(deny) };
}

function readRule(owner: RuleSet["owner"], text: string): Rule {
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
