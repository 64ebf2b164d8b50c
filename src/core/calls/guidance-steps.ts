import { toSignature } from "../../base/json-schema/signature.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import type { Entry, Guidance, Lane } from "../nouns/entry.ts";
import type { CallScope } from "./call-environment.ts";

const OFTEN_NEXT = "Often used next.";
const MAX_STEPS = 20;
const PROSE_CHARS = 500;

/** A next step as an answer carries it. */
export interface GuidanceStep {
  readonly route: string;
  readonly prose: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly signature?: string;
  readonly lane: Lane;
}

/**
 * The next steps after an entry ran: those its result names, those it declares, those learned from use. Steps to
 * entries that the caller may not see are dropped and reported.
 */
export async function guidanceSteps(
  entry: Entry,
  returned: readonly unknown[],
  { view, services, notice }: Pick<CallScope, "view" | "services" | "notice">,
): Promise<GuidanceStep[]> {
  const next = await services.learning?.after(view.scopeKey, entry.route, view.principal.id);
  const learned = (next ?? [])
    .filter((route) => (view.find(route)?.visibility ?? "hidden") !== "hidden")
    .map((route) => ({ route, prose: OFTEN_NEXT }));
  const steps = new Map<string, GuidanceStep>();
  for (const candidate of [...returned, ...entry.guidance, ...learned].slice(0, MAX_STEPS * 2)) {
    if (!isGuidance(candidate)) continue;
    const { route, prose, params } = candidate;
    const target = view.find(route);
    if (!target) {
      notice("guidance-dropped", `${entry.route} leads to ${toVisibleText(route, 200)}`);
      continue;
    }
    const key = JSON.stringify([target.route, params]);
    if (steps.has(key) || steps.size >= MAX_STEPS) continue;
    steps.set(key, {
      route: target.route,
      prose: toVisibleText(prose, PROSE_CHARS),
      ...(params && { params }),
      ...(target.kind !== "resource" && { signature: toSignature(target.inputSchema) }),
      lane: target.lane,
    });
  }
  return [...steps.values()];
}

/**
 * Reads a result apart from its guidance: `{ content, guidance }`, and `{ content }` around a text alone unless the
 * tool declares to return an object. Any other value is the content itself.
 */
export function toGuidedResult(
  value: unknown,
  declaresObject: boolean,
): { readonly content: unknown; readonly guidance: readonly unknown[] } {
  if (typeof value !== "object" || value === null || !("content" in value))
    return { content: value, guidance: [] };
  if ("guidance" in value && Array.isArray(value.guidance))
    return { content: value.content, guidance: value.guidance };
  const isAlone = typeof value.content === "string" && Object.keys(value).length === 1 && !declaresObject;
  return { content: isAlone ? value.content : value, guidance: [] };
}

function isGuidance(value: unknown): value is Guidance {
  if (typeof value !== "object" || value === null) return false;
  const { route, prose, params } = value as Partial<Guidance>;
  return (
    typeof route === "string" &&
    typeof prose === "string" &&
    (params === undefined || typeof params === "object")
  );
}
