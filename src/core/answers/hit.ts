import { z } from "zod";
import { toSignature } from "../../base/json-schema/signature.ts";
import type { ToolNames } from "../../base/problems/format-message.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import { KINDS } from "../../search/port/search-index.ts";
import { type Entry, LANES, type Rule } from "../nouns/entry.ts";

export const hitSchema = z.object({
  route: z.string(),
  op: z.string(),
  kind: z.enum(KINDS),
  domain: z.string(),
  name: z.string(),
  lane: z.enum(LANES),
  summary: z.string().optional(),
  signature: z.string().optional(),
  /** The type of its results, for callers that write scripts. */
  returns: z.string().optional(),
  /** The most important thing that its policy advises against. */
  dont: z.string().optional(),
  unavailable: z.string().optional().describe("why it cannot be used now"),
  /** Shown because it is an entry point of its domain, not because it matched. */
  entryPoint: z.literal(true).optional(),
  /** An entry point of its domain, whether it matched or not. */
  wayIn: z.literal(true).optional(),
  /** Below the place where relevance falls off: shown because the caller wants that many. */
  weak: z.literal(true).optional(),
  /** An earlier answer of the session showed it, so this one only names it. */
  shownBefore: z.literal(true).optional(),
});
export type Hit = z.output<typeof hitSchema>;

/** Room for a command that helps. */
const REASON_CHARS = 120;
const DONT_CHARS = 80;

/** An entry as search shows it, from the fullest form to the bare address. */
export const hitForms: (entry: Entry) => readonly Hit[] = memoizeByObject((entry) => {
  const { route, op, kind, domain, name, lane, status, visibility } = entry;
  const wayIn = visibility === "entry" && { wayIn: true as const };
  const bare: Hit = { route, op, kind, domain, name, lane, ...wayIn };
  const why = status && { unavailable: `${status.state}: ${cutText(status.reason, REASON_CHARS)}` };
  const signature = (maxChars: number, requiredOnly = false) =>
    kind === "resource" ? {} : { signature: toSignature(entry.inputSchema, { maxChars, requiredOnly }) };
  return [
    { ...bare, ...why, ...signature(160), summary: toSummary(entry.description, 160), ...dontOf(entry) },
    { ...bare, ...why, ...signature(80, true), summary: toSummary(entry.description, 70) },
    { ...bare, ...why, ...signature(60, true) },
    { ...bare, ...(status && { unavailable: status.state }) },
  ];
});

/** One line for a model. Reading is the rule, so only the other lanes are marked. */
export function hitLine(hit: Hit, { ops }: ToolNames = {}): string {
  const lane = hit.lane === "read" ? "" : ` [${hit.lane}]`;
  const unavailable = hit.unavailable ? ` [unavailable, ${hit.unavailable}]` : "";
  const summary = hit.summary ? `: ${hit.summary}` : "";
  const returns = hit.returns ? ` => ${hit.returns}` : "";
  const dont = hit.dont ? ` Do not: ${hit.dont}` : "";
  return `- ${ops ? addressOf(hit) : hit.route}${hit.signature ?? ""}${returns}${lane}${unavailable}${summary}${dont}`;
}

function dontOf(entry: Entry): Pick<Hit, "dont"> {
  const [dont] = (entry.kind === "tool" && entry.policy?.dont) || [];
  return dont ? { dont: toSummary(dont, DONT_CHARS) } : {};
}

/** The hits that an answer makes known: the relevant ones, the first in any case, at most `most`. */
export function toDiscover<H extends Pick<Hit, "weak">>(hits: readonly H[], most: number | undefined): H[] {
  if (most === undefined) return [...hits];
  return hits.filter((hit, index) => index === 0 || !hit.weak).slice(0, most);
}

type AnyRule = Pick<Rule, "domain" | "text"> & { readonly category?: string | undefined };

/** The mark by which a session knows that it has received a rule. */
export function ruleId({ domain, category }: Omit<AnyRule, "text">): string {
  return `${domain}/${category ?? ""}`;
}

export function ruleText({ domain, category, text }: AnyRule): string {
  return `Rules for ${category ?? domain}: ${text}`;
}
