import type { View } from "../access/view.ts";
import { domainLine, domainsBySize, listNames } from "../operations/domain-line.ts";
import { OPERATIONS } from "../operations/operations.ts";
import type { SurfaceOptions } from "../surfaces/surface.ts";
import { surfaceTools } from "../surfaces/surface.ts";
import { cutText } from "../util/cut-text.ts";

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
const NAMES_CHARS = 120;

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
  return instructions ? instructions(context) : ownInstructions(view, surface);
}

function ownInstructions(view: View, surface: SurfaceOptions): string {
  const names = domainsBySize(view);
  const tools = surfaceTools(surface);
  const uses = tools.map(({ name, operation }) => `${name} ${OPERATIONS[operation].introduction}`);
  const head = [
    // Some clients show a model only the beginning, so the domains come first.
    `Tools and documents of ${listNames(names, NAMES_CHARS) || "no domain yet"}.`,
    ...(uses.length > 0 ? [`${uses.join(", ")}.`] : []),
    "Look here before you say that something cannot be done.",
  ].join(" ");
  const lines = names.map((name) => {
    const line = domainLine(name, view, SUMMARY_CHARS);
    return `- ${name}${line === "" ? "" : `: ${line}`}`;
  });
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
