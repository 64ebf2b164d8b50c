import { z } from "zod";
import type { View } from "../access/view.ts";
import { fitLines, type LineGroup } from "../render/fit-lines.ts";
import type { Piece } from "../render/fit-pieces.ts";
import { hitForms, hitLine } from "../render/hit.ts";
import { ruleId, ruleText } from "../render/rules.ts";
import type { Entry, Rule } from "../schema/entry.ts";
import { problem } from "../schema/problem.ts";
import { seesStill } from "../session/needs.ts";
import { CURRENT_SESSION, handleOf } from "../session/session-store.ts";
import type { WorkingMemory } from "../session/working-memory.ts";
import { addressOf } from "../util/address-of.ts";
import { toSummary } from "../util/to-summary.ts";
import type { OperationContext } from "./operation.ts";
import { entityGroup, quoted, summaryGroup } from "./render-working-memory.ts";

const paramsSchema = z.strictObject({ maxTokens: z.int().min(50).max(4_000).default(400) });

/** The reader's loss by kind of line; the cheapest goes first. Lines shrink before they are dropped. */
const PRICE = { shorter: 1, shorterRule: 2, signatureOnly: 3, bare: 4, result: 5, rule: 6, line: 7 };
const SHORT_RULE_CHARS = 80;

/** Everything that a session has seen, for an agent whose context has been condensed. */
export async function showSession(
  address: string,
  params: unknown,
  context: OperationContext,
): Promise<string> {
  const parsed = paramsSchema.safeParse(params);
  if (!parsed.success) {
    const reason = "session:// takes the param maxTokens, from 50 to 4000";
    throw problem("INVALID_INPUT", { operation: address, reason });
  }
  const memory = await memoryAt(address, context);
  const { view } = context;
  const groups = [
    summaryGroup(memory.summary ?? ""),
    toolGroup(memory, view),
    unveiledGroup(memory, view),
    ruleGroup(memory, view),
    entityGroup(memory.entities.filter(({ needs }) => !needs || seesStill(view, needs))),
    await resultGroup(memory, context),
  ];
  const text = fitLines(groups, parsed.data.maxTokens, context.countTokens);
  return text === "" ? "Nothing has been unveiled in this session yet." : text;
}

async function memoryAt(
  address: string,
  { session, sessions, view }: OperationContext,
): Promise<WorkingMemory> {
  if (address !== CURRENT_SESSION) return sessions.read(handleOf(address), view.principal.id);
  if (!session) throw problem("UNKNOWN_HANDLE", { handle: handleOf(address) });
  return session.memory;
}

/** Newest first, without entries that the caller may no longer see. */
function toolGroup({ discoveredTools, usedTools }: WorkingMemory, view: View): LineGroup {
  const uses = new Map(usedTools.map((use) => [use.name, use]));
  const pieces = entriesOf(discoveredTools, view).map((entry) => {
    const use = uses.get(addressOf(entry));
    const failed = use?.lastResult === "error" ? ", last failed" : "";
    return entryPiece(entry, use ? ` (used ${use.count}x${failed})` : "");
  });
  return { pieces, toText: (lines, left) => groupText("Found:", lines, left) };
}

function unveiledGroup({ unveiled, discoveredTools }: WorkingMemory, view: View): LineGroup {
  const known = new Set(entriesOf(discoveredTools, view));
  const pieces = entriesOf(unveiled, view)
    .filter((entry) => !known.has(entry))
    .map((entry) => entryPiece(entry, ""));
  return { pieces, toText: (lines, left) => groupText("Unveiled:", lines, left) };
}

function ruleGroup({ rules }: WorkingMemory, view: View): LineGroup {
  const delivered = new Set(rules);
  const pieces = [...view.domains.values()]
    .flatMap((domain) => domain.rules)
    .filter((rule) => delivered.has(ruleId(rule)))
    .map(rulePiece);
  return { pieces, toText: (lines, left) => groupText("", lines, left && `rules: ${left}`) };
}

async function resultGroup(
  { results }: WorkingMemory,
  { results: store, view }: OperationContext,
): Promise<LineGroup> {
  const seen = results.filter(({ needs }) => seesStill(view, needs));
  const kept = await Promise.all(seen.map(({ handle }) => store.has(handle, view.principal.id)));
  const pieces = seen
    .filter((_, at) => kept[at])
    .toReversed()
    .map(
      ({ handle, name }): Piece => ({
        forms: [`- ${handle} of ${quoted(name)}`, ""],
        prices: [PRICE.result],
      }),
    );
  return { pieces, toText: (lines, left) => groupText("Stored results:", lines, left) };
}

function entriesOf(names: readonly string[], view: View): Entry[] {
  return names.toReversed().flatMap((name) => view.find(name) ?? []);
}

function entryPiece(entry: Entry, note: string): Piece {
  const forms = hitForms(entry).map((hit) => hitLine(hit) + note);
  return { forms: [...forms, ""], prices: [PRICE.shorter, PRICE.signatureOnly, PRICE.bare, PRICE.line] };
}

function rulePiece(rule: Rule): Piece {
  const short = { ...rule, text: toSummary(rule.text, SHORT_RULE_CHARS) };
  return { forms: [ruleText(rule), ruleText(short), ""], prices: [PRICE.shorterRule, PRICE.rule] };
}

function groupText(heading: string, lines: readonly string[], left: number | string): string {
  const omitted = left ? [`[left out: ${left}; read again with a larger maxTokens]`] : [];
  return [...(heading ? [heading] : []), ...lines, ...omitted].join("\n");
}
