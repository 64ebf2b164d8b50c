import { z } from "zod";
import { LANES } from "../schema/entry.ts";
import type { Problem } from "../schema/problem.ts";
import { problem } from "../schema/problem.ts";
import { cutText } from "../util/cut-text.ts";
import { nearest } from "../util/nearest.ts";
import type { OperationContext } from "./operation.ts";
import type { GuidanceStep } from "./run-entry.ts";

export const guidanceSchema = z.object({
  route: z.string(),
  prose: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
  signature: z.string().optional(),
  lane: z.enum(LANES),
});

export const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  next: z.string(),
  details: z.record(z.string(), z.unknown()),
  help_path: z.string(),
});

export type ErrorAnswer = z.output<typeof errorSchema>;

const MOST_SHARING = 10;

/** Where to read on: the op itself, or the deepest group that the address leads to. */
export function helpPathOf(address: string, { view }: OperationContext): string {
  const entry = view.find(address);
  if (entry) return entry.op;
  const segments = address.replace("://tools/", ".").split(/[./]/).slice(0, 16);
  for (let length = segments.length - 1; length > 0; length--) {
    const group = segments.slice(0, length).join(".");
    if (view.shown.some(({ op }) => op.startsWith(`${group}.`))) return group;
  }
  return "root";
}

/** A problem as an answer carries it. */
export function toErrorAnswer({ code, message, next, details }: Problem, helpPath: string): ErrorAnswer {
  return { code, message, next, details: { ...details }, help_path: helpPath };
}

/** The problem of an address that names nothing the caller may see, with the nearest that do. */
export function notFound(address: string, { view, session }: OperationContext): Problem {
  const sharing = view.byName(address);
  if (sharing.length > 1) {
    const ops = sharing.slice(0, MOST_SHARING).map(({ op }) => op);
    return problem("NOT_FOUND", { name: `single entry named ${cutText(address, 128)}` }, { nearest: ops });
  }
  const unveiled = (session?.memory.unveiled ?? []).flatMap((route) => view.find(route) ?? []);
  const names = [...view.shown, ...unveiled];
  const candidates = names.flatMap((entry) =>
    address.includes("://") ? [entry.route] : [entry.op, entry.name],
  );
  const near = nearest(cutText(address, 256), new Set(candidates));
  return problem("NOT_FOUND", { name: cutText(address, 128) }, { nearest: near });
}

export function errorText(error: ErrorAnswer): string {
  const details = Object.keys(error.details).length > 0 ? `\n${JSON.stringify(error.details)}` : "";
  const sentence = error.message.replace(/[\p{L}\p{N}]$/u, "$&.");
  return `${error.code}: ${sentence} ${error.next}${details}\nhelp: ${error.help_path}`;
}

export function guidanceText(guidance: readonly GuidanceStep[]): string {
  if (guidance.length === 0) return "";
  const lines = guidance.map(({ route, prose, params, signature, lane }) => {
    const filled = params ? ` with ${JSON.stringify(params)}` : "";
    return `- ${route}${signature ?? ""}${lane === "read" ? "" : ` [${lane}]`}${filled}: ${prose}`;
  });
  return `\nNext:\n${lines.join("\n")}`;
}
