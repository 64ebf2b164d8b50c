import { z } from "zod";
import type { View } from "../access/view.ts";
import { fitPieces, type Piece } from "../render/fit-pieces.ts";
import type { TokenCounter } from "../render/tokens.ts";
import type { Entry } from "../schema/entry.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { type NativeNames, nativeTools, toNativeTool } from "./native-tools.ts";
import { OPERATIONS } from "./operations.ts";
import { type SurfaceOptions, type SurfaceTool, surfaceTools } from "./surfaces.ts";

/** A tool as a model is offered it. */
export interface MenuTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: Readonly<Record<string, unknown>> & {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
  };
  /** Only where somebody else's server declares them. */
  readonly outputSchema?: JsonSchema;
  readonly icons?: readonly unknown[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What the whole menu may cost, for any catalog; `native`, which lists the catalog itself, excepted. */
export const MENU_TOKENS = 900;
const TOP_VERBS = 3;
/** Keywords that guard the input but tell a model nothing it needs on every request. */
const SILENT_KEYWORDS = new Set([
  "$schema",
  "propertyNames",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
]);

export interface MenuOptions extends SurfaceOptions {
  /** What `native` tools are called. */
  readonly nativeNames?: NativeNames;
}

/**
 * The tools of a surface. The list depends on the domains in sight only, never on what was discovered, so
 * that prompt caches hold. The tool that finds carries a map of what is behind it, as far as there is room.
 */
export function createMenu(view: View, countTokens: TokenCounter, options: MenuOptions = {}): MenuTool[] {
  if (options.surface === "native") {
    return [...nativeTools(view, options.nativeNames)].map(([name, entry]) => toNativeTool(name, entry));
  }
  const shown = surfaceTools(options);
  const tools = shown.map((tool) => toMenuTool(tool, view));
  const finder = Math.max(
    0,
    shown.findIndex(({ operation }) => operation === "ask"),
  );
  const plain = tools[finder]!;
  let room = MENU_TOKENS - countTokens(JSON.stringify(tools));
  while (true) {
    const description = `${plain.description}${toMap(view, room, countTokens)}`;
    const mapped = tools.with(finder, { ...plain, description });
    const over = countTokens(JSON.stringify(mapped)) - MENU_TOKENS;
    if (over <= 0 || description === plain.description) return mapped;
    room -= over;
  }
}

function toMenuTool({ name, operation, purpose, mayWrite }: SurfaceTool, view: View): MenuTool {
  const { title, input, purpose: ownPurpose, readOnly } = OPERATIONS[operation];
  const onlyReads = readOnly && !(mayWrite && view.principal.allowWrite);
  return {
    name,
    title,
    description: purpose ?? ownPurpose,
    inputSchema: withoutSilent(z.toJSONSchema(input, { io: "input", unrepresentable: "any" })) as JsonSchema,
    annotations: { readOnlyHint: onlyReads, destructiveHint: !onlyReads },
  };
}

function withoutSilent(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutSilent);
  if (schema === null || typeof schema !== "object") return schema;
  const kept = Object.entries(schema).filter(
    ([keyword]) => !SILENT_KEYWORDS.has(keyword) && keyword !== "explain",
  );
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, withoutSilent(value)]));
}

/** Domains with counts and leading verbs; the smallest lose their details, then their place, first. */
function toMap(view: View, room: number, countTokens: TokenCounter): string {
  const heading = " Behind it:";
  const more = ", and more domains";
  const groups = [...Map.groupBy(view.shown, (entry) => entry.domain)].sort(
    ([one, its], [other, others]) => others.length - its.length || (one < other ? -1 : 1),
  );
  const pieces = groups.map(([name, entries]): Piece => {
    const verbs = leadingVerbs(entries);
    const forms = [
      `${name} (${entries.length}: ${verbs.join(", ")})`,
      `${name} (${entries.length})`,
      name,
      "",
    ];
    return {
      forms: verbs.length > 0 ? forms : forms.slice(1),
      prices: verbs.length > 0 ? [1, 2, 3] : [2, 3],
    };
  });
  const chosen = fitPieces(pieces, room - countTokens(heading + more), countTokens);
  const lines = pieces.map(({ forms }, index) => forms[chosen[index]!]!).filter((line) => line !== "");
  if (lines.length === 0) return "";
  return `${heading} ${lines.join("; ")}${lines.length < pieces.length ? more : ""}.`;
}

function leadingVerbs(entries: readonly Entry[]): string[] {
  const counts = new Map<string, number>();
  for (const { kind, op } of entries) {
    const verb = op.split(".").at(-1) ?? "";
    if (kind === "tool" && op.split(".").length > 2) counts.set(verb, (counts.get(verb) ?? 0) + 1);
  }
  return [...counts]
    .sort(([one, count], [other, otherCount]) => otherCount - count || (one < other ? -1 : 1))
    .slice(0, TOP_VERBS)
    .map(([verb]) => verb);
}
