import { toSignature } from "../../base/json-schema/signature.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import type { Entry, Guidance, Lane } from "../nouns/entry.ts";
import type { CallScope } from "./call-environment.ts";

const OFTEN_NEXT = "Often used next.";

/** A next step as an answer carries it. */
export interface GuidanceStep {
  readonly route: string;
  readonly prose: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly signature?: string;
  readonly lane: Lane;
}

/** The next steps after an entry ran: those its result names, those it declares, those learned from use. */
export function guidanceSteps(
  entry: Entry,
  given: readonly unknown[],
  { view, services, notice }: Pick<CallScope, "view" | "services" | "notice">,
): GuidanceStep[] {
  const learned = services.learning?.after(view.scopeKey, entry.route, view.principal.id) ?? [];
  const isShown = (route: string) => {
    const target = view.find(route);
    return target !== undefined && target.visibility !== "hidden";
  };
  const declared = [
    ...entry.guidance,
    ...learned.filter(isShown).map((route) => ({ route, prose: OFTEN_NEXT })),
  ];
  const steps = resolveGuidance(given, declared, view.find, (route) =>
    notice("guidance-dropped", `${entry.route} leads to ${toVisibleText(route, 200)}`),
  );
  return steps.map(({ entry: target, ...step }) => ({
    ...step,
    ...(target.kind !== "resource" && { signature: toSignature(target.inputSchema) }),
    lane: target.lane,
  }));
}

const MAX_STEPS = 20;
const PROSE_CHARS = 500;

/** A next step that the caller may take, with its entry. */
interface NextStep extends Guidance {
  readonly entry: Entry;
}

/** A result apart from its guidance. */
interface GuidedResult {
  readonly content: unknown;
  readonly guidance: readonly unknown[];
}

/**
 * Reads `{ content, guidance }`, and `{ content }` around a text alone unless the tool declares to return an object.
 * Any other value is the content itself.
 */
export function toGuidedResult(value: unknown, declaresObject: boolean): GuidedResult {
  if (typeof value !== "object" || value === null || !("content" in value))
    return { content: value, guidance: [] };
  if ("guidance" in value && Array.isArray(value.guidance))
    return { content: value.content, guidance: value.guidance };
  const isAlone = typeof value.content === "string" && Object.keys(value).length === 1 && !declaresObject;
  return { content: isAlone ? value.content : value, guidance: [] };
}

/**
 * Lists the next steps after a call: those that the result names, then those that the definition declares.
 * Steps to entries that the caller may not see are dropped and reported to `onDropped`.
 */
function resolveGuidance(
  given: readonly unknown[],
  declared: readonly Guidance[],
  find: (address: string) => Entry | undefined,
  onDropped: (route: string) => void,
): NextStep[] {
  const steps = new Map<string, NextStep>();
  for (const candidate of [...given, ...declared].slice(0, MAX_STEPS * 2)) {
    if (!isGuidance(candidate)) continue;
    const entry = find(candidate.route);
    if (!entry) {
      onDropped(candidate.route);
      continue;
    }
    const { params } = candidate;
    const key = JSON.stringify([entry.route, params]);
    if (steps.has(key) || steps.size >= MAX_STEPS) continue;
    const prose = toVisibleText(candidate.prose, PROSE_CHARS);
    steps.set(key, { entry, route: entry.route, prose, ...(params && { params }) });
  }
  return [...steps.values()];
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
