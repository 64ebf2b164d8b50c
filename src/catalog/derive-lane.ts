import { LANES, type Lane, type RiskLevel } from "../schema/entry.ts";
import { splitWords } from "../util/split-words.ts";
import { laneOfVerb } from "./verbs.ts";

const LANE_OF_RISK: Readonly<Record<RiskLevel, Lane>> = {
  safe: "read",
  moderate: "write",
  destructive: "destructive",
};

/**
 * Derives a tool's lane: the declared one, never weaker than its risk level, or else the one that its name
 * implies, or else `unknown`.
 */
export function deriveLane(
  tool: { readonly name: string; readonly lane?: Lane; readonly riskLevel?: RiskLevel },
  unknown: Lane,
): Lane {
  const byRisk = tool.riskLevel ? LANE_OF_RISK[tool.riskLevel] : undefined;
  if (tool.lane) return strongest(tool.lane, byRisk ?? "read");
  const byName = laneOfName(tool.name);
  return strongest(byRisk ?? "read", byName ?? unknown);
}

/** A verb may lead (`delete_page`), follow a prefix (`cms_deletePage`) or close the name (`page.delete`). */
function laneOfName(name: string): Lane | undefined {
  const words = splitWords(name);
  const candidates = [words[0], words[1], words.at(-1)].map((word) => word && laneOfVerb(word));
  return candidates.find((lane) => lane !== undefined) || undefined;
}

function strongest(left: Lane, right: Lane): Lane {
  return LANES.indexOf(left) >= LANES.indexOf(right) ? left : right;
}
