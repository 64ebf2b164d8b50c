import type { View } from "../access/view.ts";
import { OPERATIONS } from "../operations/operations.ts";
import type { SurfaceOptions } from "../surfaces/surface.ts";
import { surfaceTools } from "../surfaces/surface.ts";
import { cutText } from "../util/cut-text.ts";
import { toSummary } from "../util/to-summary.ts";

/** The facts that instructions are made of, as far as the caller may see them. */
export interface InstructionContext {
  readonly domainCount: number;
  /** Number of tools, skills and prompts. */
  readonly routeCount: number;
  readonly resourceCount: number;
  readonly domains: readonly { readonly name: string; readonly description: string }[];
}

/** The instructions, or a function that writes them. Default: Keyhole writes its own. */
export type InstructionsOption = string | ((context: InstructionContext) => string);

/** Clients cut longer instructions. */
const MAX_CHARS = 2_000;
const SUMMARY_CHARS = 100;

export function toInstructions(
  view: View,
  { instructions, ...surface }: SurfaceOptions & { readonly instructions?: InstructionsOption },
): string {
  if (typeof instructions === "string") return instructions;
  const resourceCount = view.shown.filter((entry) => entry.kind === "resource").length;
  const context: InstructionContext = {
    domainCount: view.domains.size,
    routeCount: view.shown.length - resourceCount,
    resourceCount,
    domains: [...view.domains.values()].map(({ name, description }) => ({ name, description })),
  };
  return instructions ? instructions(context) : ownInstructions(context, surface);
}

function ownInstructions(context: InstructionContext, surface: SurfaceOptions): string {
  const { domainCount, routeCount, resourceCount, domains } = context;
  const tools = surfaceTools(surface);
  const uses = tools.map(({ name, operation }) => `${name} ${OPERATIONS[operation].introduction}`);
  const head = [
    `${domainCount} domains with ${routeCount} tools and ${resourceCount} documents are behind these tools.`,
    ...(uses.length > 0 ? [`${uses.join(", ")}.`] : []),
    "Look here before you say that something cannot be done.",
  ].join(" ");
  const lines = domains.map(({ name, description }) => `- ${name}: ${toSummary(description, SUMMARY_CHARS)}`);
  const kept: string[] = [];
  let room = MAX_CHARS - head.length - 40;
  for (const line of lines) {
    room -= line.length + 1;
    if (room < 0) break;
    kept.push(line);
  }
  const left = lines.length - kept.length;
  return cutText([head, ...kept, ...(left > 0 ? [`and ${left} more domains`] : [])].join("\n"), MAX_CHARS);
}
