import { PERMISSION_SCOPES, type PermissionScope } from "./permission.ts";

const VERBS: Readonly<Record<PermissionScope, string>> = {
  "fs-read": "reading",
  "fs-write": "writing",
  "fs-delete": "deleting",
  "shell-run": "running",
};

/** The requests that a rule covers, in words. A rule that cannot be read stands for itself. */
export function describeRule(rule: string): string {
  const open = rule.indexOf("(");
  const scope = PERMISSION_SCOPES.find((each) => each === rule.slice(0, open));
  if (scope === undefined || !rule.endsWith(")")) return rule;
  const pattern = rule.slice(open + 1, -1);
  return `${VERBS[scope]} ${scope === "shell-run" ? ofCommand(pattern) : ofPath(pattern)}`;
}

function ofCommand(pattern: string): string {
  if (!pattern.endsWith(" *")) return `${pattern}, with exactly these words`;
  return `${pattern.slice(0, -2)}, with any further arguments`;
}

function ofPath(pattern: string): string {
  if (pattern === "**") return "every file of the folder";
  const folder = /^((?:[^*?\\]|\\.)*)\/\*\*$/s.exec(pattern)?.[1];
  if (folder !== undefined) return `every file below ${literal(folder)}`;
  if (/^(?:[^*?\\]|\\.)*$/s.test(pattern)) return `the file ${literal(pattern)} alone`;
  return `every file whose path fits ${pattern}`;
}

function literal(pattern: string): string {
  return pattern.replace(/\\(.)/gs, "$1");
}
