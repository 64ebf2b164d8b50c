import { resolveGuidance } from "../guidance/resolve-guidance.ts";
import { toSignature } from "../render/signature.ts";
import type { Entry, Lane } from "../schema/entry.ts";
import { toVisibleText } from "../util/visible-text.ts";
import type { CallEnvironment } from "./call-environment.ts";

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
  { view, services, notice }: Pick<CallEnvironment, "view" | "services" | "notice">,
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
