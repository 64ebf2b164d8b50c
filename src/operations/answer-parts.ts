import { z } from "zod";
import type { GuidanceStep } from "../calls/guidance-steps.ts";
import { LANES } from "../schema/entry.ts";
import { type Saying, say, type Words } from "../schema/say.ts";
import { isFields } from "../util/fields.ts";

export const guidanceSchema = z.object({
  route: z.string(),
  prose: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
  signature: z.string().optional(),
  lane: z.enum(LANES),
});

/** Unchecked arguments. A record schema would drop an argument called `__proto__`; models also send JSON text. */
export const argsSchema = z
  .preprocess(readArgs, z.custom<Record<string, unknown>>(isFields, "must be an object"))
  .meta({ type: "object" });

/** Writes next steps for a model. */
export function guidanceText(guidance: readonly GuidanceStep[]): string {
  if (guidance.length === 0) return "";
  const lines = guidance.map(({ route, prose, params, signature, lane }) => {
    const filled = params ? ` with ${JSON.stringify(params)}` : "";
    return `- ${route}${signature ?? ""}${lane === "read" ? "" : ` [${lane}]`}${filled}: ${prose}`;
  });
  return `\nNext:\n${lines.join("\n")}`;
}

/** Warnings in the words of the surface; those that came with a result stay as they are. */
export function sayWarnings(warnings: readonly (string | Saying)[], words: Words): string[] {
  return warnings.map((warning) => (typeof warning === "string" ? warning : say(warning, words)));
}

export function warningsText(warnings: readonly string[] = []): string {
  return warnings.map((warning) => `\n[${warning}]`).join("");
}

export function sessionText(session: string | undefined): string {
  return session ? `\nsession: ${session}` : "";
}

function readArgs(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return value.trim() === "" ? {} : JSON.parse(value);
  } catch {
    return value;
  }
}
