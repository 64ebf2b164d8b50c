import { relative } from "node:path";
import { PERMISSION_SCOPES, type PermissionScope } from "../permissions/permission.ts";
import { showExactly } from "../permissions/to-request.ts";
import { tintOf } from "./block-view.ts";
import type { Permission } from "./chat-state.ts";
import { wrapHard, wrapWords } from "./wrap-text.ts";

export interface DialogLine {
  readonly text: string;
  readonly tint: object;
}

/** Everything that an answer is about. A diff that would need pages gives up lines that it does not change. */
export function questionLines(permission: Permission, columns: number, height: number): DialogLine[] {
  const { action, diff, reason, always } = permission;
  const toLines = (changes: readonly string[]) => [
    ...plain(action, columns),
    ...changes.flatMap((line) => diffLines(line, columns)),
    ...(reason === "" || isBrief(permission, columns)
      ? []
      : plain(`Why it asks: ${reason}`, columns, wrapWords)),
    ...(always.length === 0 || alwaysLabel(permission, columns) !== undefined
      ? []
      : plain([`“Always” saves in ${placeOf(permission)}:`, ...always].join("\n"), columns)),
  ];
  if (diff === undefined) return toLines([]);
  const whole = diff.trimEnd().split("\n");
  const shown = [whole, withContext(whole, 1), withContext(whole, 0)].map(toLines);
  return shown.find((lines) => lines.length <= height) ?? shown[0]!;
}

/** The title of a question, with its reason if both fit into a line. */
export function questionTitle(permission: Permission, columns: number): string {
  const title = `Allow ${permission.scope}?`;
  return isBrief(permission, columns) ? `${title} ${showExactly(permission.reason)}` : title;
}

function isBrief({ scope, reason }: Permission, columns: number): boolean {
  return scope.length + showExactly(reason).length + 10 <= columns && !reason.includes("\n");
}

/** The words of the answer `always`, if its rule and its file fit into a line. */
export function alwaysLabel(permission: Permission, columns: number): string | undefined {
  const { always } = permission;
  const label = `yes, always: ${showExactly(always.join(" "))}, in ${placeOf(permission)}`;
  return always.length === 1 && label.length <= columns - 4 ? label : undefined;
}

/** The file that keeps rules, as seen from this folder. */
function placeOf({ keptIn = "the settings" }: Permission): string {
  const path = relative(process.cwd(), keptIn);
  return path.startsWith("..") || !keptIn.startsWith("/") ? keptIn : path;
}

function plain(text: string, columns: number, wrap = wrapHard): DialogLine[] {
  return wrap(showExactly(text), columns).map((line) => ({ text: line, tint: {} }));
}

function diffLines(line: string, columns: number): DialogLine[] {
  const shown = line.split("\t").map(showExactly).join("→   ");
  return wrapHard(shown, columns).map((text) => ({ text, tint: tintOf(line) }));
}

/** The changed lines of a diff, with few unchanged ones around them, and without the names of the file. */
function withContext(diff: readonly string[], around: number): string[] {
  const first = diff.findIndex((line) => line.startsWith("@@"));
  const lines = diff.slice(Math.max(0, first));
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some((line) => /^[-+@\\]/.test(line));
  const changed = lines.findLastIndex((line) => /^[-+]/.test(line));
  return lines.flatMap((line, at) => {
    if (isNear(at)) return [line];
    // Changes that are apart do not look as if they were together.
    return at < changed && isNear(at - 1) && !lines[at - 1]!.startsWith("@@") ? ["⋮"] : [];
  });
}

const VERBS: Readonly<Record<PermissionScope, string>> = {
  "fs-read": "reading",
  "fs-write": "writing",
  "fs-delete": "deleting",
  "shell-run": "running",
  web: "reading from",
  tool: "calling",
};

/** The requests that a rule covers, in words. A rule that cannot be read stands for itself. */
export function describeRule(rule: string): string {
  const open = rule.indexOf("(");
  const scope = PERMISSION_SCOPES.find((each) => each === rule.slice(0, open));
  if (scope === undefined || !rule.endsWith(")")) return rule;
  const pattern = rule.slice(open + 1, -1);
  if (scope === "web" || scope === "tool") return `${VERBS[scope]} ${pattern}`;
  return `${VERBS[scope]} ${scope === "shell-run" ? ofCommand(pattern) : ofPath(pattern)}`;
}

function ofCommand(pattern: string): string {
  const [, words, star] = /^(.*) (\*\*?)$/s.exec(pattern) ?? [];
  if (star === undefined) return `${pattern}, with exactly these words`;
  return `${words}, with any further arguments${star === "**" ? "; it may run other programs and write files" : ""}`;
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
