import { z } from "zod";
import { formatMessage, type MessageTemplate } from "../../base/problems/format-message.ts";
import { fitPieces, type Piece } from "../../base/tokens/fit-pieces.ts";
import type { TokenCounter } from "../../base/tokens/tokens.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import { KINDS } from "../../search/port/search-index.ts";
import type { View } from "../access/view.ts";
import { type Hit, hitForms, hitLine, hitSchema, ruleText } from "../answers/hit.ts";
import type { Entry, Rule } from "../nouns/entry.ts";
import type { AnswerLimits } from "./answer-parts.ts";

const MIN_ASK_TOKENS = 64;

export const askInput = z
  .object({
    query: z.string().optional().describe("What you need to do, in your words or by name"),
    queries: z.array(z.string()).min(1).max(16).optional().describe("Several needs at once"),
    domain: z.string().optional(),
    kinds: z.array(z.enum(KINDS)).optional(),
    perDomain: clamped(1, 50).optional(),
    limit: clamped(1, 50).optional(),
    maxTokens: clamped(MIN_ASK_TOKENS, 25_000).optional(),
    explain: z.boolean().optional(),
    session: z.string().optional().describe('Handle from an answer, or "new"'),
  })
  .refine(({ query, queries }) => query !== undefined || queries !== undefined, "query or queries is needed");
export type AskInput = z.output<typeof askInput>;

export const askOutput = z.object({
  /** The queries that were searched for. */
  queries: z.array(z.string()),
  /** Best first, whatever their domain; then entry points of domains, marked as such. */
  hits: z.array(hitSchema),
  /** In the order of their best hit; domains without a hit come last. */
  domains: z.array(z.object({ name: z.string(), description: z.string() })),
  rules: z.array(z.object({ domain: z.string(), category: z.string().optional(), text: z.string() })),
  /** Scores by field, word and signal, by route; only with `explain`. */
  explanations: z.record(z.string(), z.unknown()).optional(),
  /** Near names, if nothing was named exactly and little was found. */
  suggestions: z.array(z.string()),
  /** Domains whose entry points did not fit: their names, as many as fit, and how many more there are. */
  leftOut: z.object({ domains: z.array(z.string()), more: z.number() }).optional(),
  /** How many hits, entry points and rules were left out for lack of room. */
  omitted: z.number(),
  notes: z.array(z.string()),
  session: z.string().optional(),
});
export type AskOutput = z.output<typeof askOutput>;

/** Some clients hide bounds from their model, so a number outside them is clamped. */
function clamped(least: number, most: number) {
  return z.preprocess(
    (value) => (typeof value === "number" ? Math.min(most, Math.max(least, Math.round(value))) : value),
    z.int().min(least).max(most),
  );
}

/** Everything that an `ask` found, before it is fitted into its budget. */
export interface FoundEntries {
  readonly input: Pick<AskInput, "domain" | "kinds" | "maxTokens">;
  readonly queries: readonly string[];
  readonly view: View;
  readonly hits: readonly Entry[];
  /** Hits above the place where relevance falls off. */
  readonly relevant: ReadonlySet<Entry>;
  /** Entry points of other domains would only distract. */
  readonly isSure: boolean;
  /** How hits of several domains that do the same differ. */
  readonly alike: readonly string[];
  /** Entries that earlier answers of the session showed. All but the best hit are only named. */
  readonly shownBefore: ReadonlySet<Entry>;
  readonly rules: readonly Rule[];
  readonly suggestions: readonly Entry[];
  readonly notes: readonly MessageTemplate[];
  /** One line about the servers whose entries cannot be found, the fullest form first. */
  readonly missing: readonly string[];
  /** Further lines, shown if there is room. */
  readonly asides: readonly string[];
  readonly explanations?: Readonly<Record<string, unknown>> | false | undefined;
  /** The type of an entry's results, if it is known. */
  returns(entry: Entry): string | undefined;
}

/** The reader's loss by kind of line; the cheapest goes first. Lines shrink before hits are dropped. */
const PRICE = {
  otherEntryPoint: 1,
  aside: 5,
  shorterHit: 10,
  rule: 20,
  signatureOnly: 30,
  domainDescription: 35,
  suggestions: 38,
  missingReasons: 38,
  bareHit: 40,
  hit: 50,
  entryPoint: 60,
  firstHit: 70,
  domain: 80,
  note: 90,
};
const DESCRIPTION_CHARS = 90;
/** The first hits are shown in full. A caller reads on only if none of them fits, so further hits are short. */
const SHOWN_IN_FULL = 3;
/** Reserved for the count of omitted lines and for the session's handle. */
const CLOSING_TOKENS = 40;
/** The share of an answer that may go to the names of domains whose entry points were left out. */
const LEFT_OUT_SHARE = 1 / 3;

type LeftOut = NonNullable<AskOutput["leftOut"]>;

/** A piece of the answer, which puts itself into the output in one of its forms. */
interface AskPart extends Piece {
  /** Counted among the lines left out. */
  readonly missed: boolean;
  /** The domain whose entry point it is. */
  readonly wayInto?: string;
  put(output: AnswerDraft, form: number): void;
}

interface AnswerDraft {
  hits: Hit[];
  domains: { name: string; description: string }[];
  rules: Rule[];
  suggestions: string[];
  notes: string[];
}

/** Returns the fullest answer within the token budget. */
export function fitAsk(
  found: FoundEntries,
  room: AnswerLimits,
  toText: (output: AskOutput) => string,
): AskOutput {
  const maxTokens = Math.max(
    MIN_ASK_TOKENS,
    Math.min(found.input.maxTokens ?? room.askTokens, room.tokensLeft),
  );
  const parts = toParts(found, room);
  let space = maxTokens - Math.min(CLOSING_TOKENS, MIN_ASK_TOKENS / 2);
  while (true) {
    const forms = fitPieces(parts, space, room.countTokens);
    const output = assemble(parts, forms, found, room, maxTokens * LEFT_OUT_SHARE);
    const tokens = room.countTokens(toText(output));
    if (tokens <= maxTokens || space <= 0) return output;
    space -= Math.max(8, tokens - maxTokens);
  }
}

function assemble(
  parts: readonly AskPart[],
  forms: readonly number[],
  { hits, queries, explanations }: FoundEntries,
  { session, countTokens }: AnswerLimits,
  leftOutTokens: number,
): AskOutput {
  const draft: AnswerDraft = { hits: [], domains: [], rules: [], suggestions: [], notes: [] };
  const dropped = parts.filter((part, index) => {
    const form = forms[index]!;
    if (part.forms[form] === "") return true;
    part.put(draft, form);
    return false;
  });
  const places = new Map(hits.map((entry, place) => [entry.route, place]));
  const placeOf = (hit: Hit) => places.get(hit.route) ?? places.size;
  const shown = new Set(draft.hits.map((hit) => hit.domain));
  const held = new Set(draft.hits.filter((hit) => !hit.shownBefore).map((hit) => hit.domain));
  const closed = new Set(dropped.flatMap(({ wayInto }) => wayInto ?? [])).difference(shown);
  return {
    ...draft,
    queries: [...queries],
    hits: draft.hits.sort((left, right) => placeOf(left) - placeOf(right)),
    domains: draft.domains.filter(({ name }) => held.has(name)),
    omitted: dropped.filter(({ missed }) => missed).length,
    ...(closed.size > 0 && { leftOut: leftOut([...closed], leftOutTokens, countTokens) }),
    ...(explanations && { explanations }),
    ...(session && { session }),
  };
}

/** Names as many domains as fit, at least one. */
function leftOut(names: readonly string[], tokens: number, countTokens: TokenCounter): LeftOut {
  let shown = names.length;
  const withFirst = (count: number) => ({ domains: names.slice(0, count), more: names.length - count });
  while (shown > 1 && countTokens(leftOutText(withFirst(shown))) > tokens) shown = Math.floor(shown * 0.9);
  return withFirst(shown);
}

export function leftOutText({ domains, more }: LeftOut): string {
  return `Entry points left out of: ${domains.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
}

export function nearNames(suggestions: readonly string[]): string {
  return `Near names: ${suggestions.join(", ")}`;
}

function toParts(found: FoundEntries, { words }: AnswerLimits): AskPart[] {
  const { view, input } = found;
  const matched = [...new Set(found.hits.map((entry) => entry.domain))];
  const first = found.hits[0];
  const hitSet = new Set(found.hits);
  const inFull = new Set(found.hits.slice(0, Math.max(SHOWN_IN_FULL, found.queries.length)));
  const isRepeated = (entry: Entry) => entry !== first && found.shownBefore.has(entry);
  const isWanted = (entry: Entry) =>
    !hitSet.has(entry) && !isRepeated(entry) && (input.kinds?.includes(entry.kind) ?? true);
  const pointsOf = (name: string) => (view.entryPoints.get(name) ?? []).filter(isWanted);
  const others =
    input.domain || found.isSure
      ? []
      : [...view.entryPoints.keys()].filter((name) => !matched.includes(name));
  const formsOf = (entry: Entry) =>
    words.run === undefined ? hitForms(entry) : withReturns(entry, found.returns(entry));
  const suggestions = found.suggestions.map((entry) => (words.ops ? addressOf(entry) : entry.route));
  const toLine = (hit: Hit) => hitLine(hit, words);
  const weakness = (entry: Entry) => (found.relevant.has(entry) ? {} : { weak: true as const });
  const lonely = input.domain && matched.length === 0 ? [input.domain] : [];
  return [
    ...found.notes.map((note) => notePart(formatMessage(note, words), PRICE.note)),
    ...(found.missing.length === 0 ? [] : [missingPart(found.missing)]),
    ...found.asides.map((aside) => notePart(aside, PRICE.aside)),
    ...found.alike.map((difference) => notePart(difference, PRICE.shorterHit)),
    ...[...matched, ...lonely].flatMap((name) => [
      domainPart(name, view.domains.get(name)?.description ?? "", PRICE.domain),
      ...found.hits
        .filter((entry) => entry.domain === name && !isRepeated(entry))
        .map((entry) => {
          const forms = inFull.has(entry) ? formsOf(entry) : formsOf(entry).slice(1);
          return hitPart(forms, toLine, entry === first ? PRICE.firstHit : PRICE.hit, weakness(entry));
        }),
      ...pointsOf(name).map((entry) => entryPointPart(entry, toLine, PRICE.entryPoint)),
    ]),
    ...found.hits.filter(isRepeated).map((entry) => {
      const hit = { ...hitForms(entry).at(-1)!, shownBefore: true as const, ...weakness(entry) };
      return linePart(addressOf(entry), PRICE.hit, true, (draft) => draft.hits.push(hit));
    }),
    ...others.flatMap((name) => [
      domainPart(name, view.domains.get(name)?.description ?? "", PRICE.otherEntryPoint),
      ...pointsOf(name).map((entry) => entryPointPart(entry, toLine, PRICE.otherEntryPoint)),
    ]),
    ...found.rules.map((rule) =>
      linePart(ruleText(rule), PRICE.rule, true, (draft) => draft.rules.push(rule)),
    ),
    ...(suggestions.length === 0
      ? []
      : [
          linePart(nearNames(suggestions), PRICE.suggestions, false, (draft) =>
            draft.suggestions.push(...suggestions),
          ),
        ]),
  ];
}

/** A script needs to know what comes back; for single calls the type would only cost tokens. */
function withReturns(entry: Entry, returns: string | undefined): readonly Hit[] {
  const [full, shorter, ...rest] = hitForms(entry);
  if (returns === undefined || !full || !shorter) return hitForms(entry);
  return [{ ...full, returns }, { ...shorter, returns }, ...rest];
}

/** Lines shrink before they are dropped: one form fewer is left out at each step. */
const SHRINKING = [PRICE.shorterHit, PRICE.signatureOnly, PRICE.bareHit];

function hitPart(
  forms: readonly Hit[],
  toLine: (hit: Hit) => string,
  price: number,
  marks: Partial<Hit>,
): AskPart {
  const steps = SHRINKING.slice(SHRINKING.length + 1 - forms.length);
  return {
    forms: [...forms.map(toLine), ""],
    prices: [...steps.map((step) => Math.min(step, price)), price],
    missed: true,
    put: (draft, form) => draft.hits.push({ ...forms[form]!, ...marks }),
  };
}

function entryPointPart(entry: Entry, toLine: (hit: Hit) => string, price: number): AskPart {
  return { ...hitPart(hitForms(entry), toLine, price, { entryPoint: true }), wayInto: entry.domain };
}

/** A heading stands before its lines, so at the same price it is dropped after them. */
function domainPart(name: string, description: string, price: number): AskPart {
  const text = toSummary(description, DESCRIPTION_CHARS);
  return {
    forms: [text === "" ? `## ${name}` : `## ${name}: ${text}`, `## ${name}`, ""],
    prices: [Math.min(PRICE.domainDescription, price), price],
    missed: false,
    put: (draft, form) => draft.domains.push({ name, description: form === 0 ? text : "" }),
  };
}

/** A line that is shown whole or left out. */
function linePart(line: string, price: number, missed: boolean, put: AskPart["put"]): AskPart {
  return { forms: [line, ""], prices: [price], missed, put };
}

function notePart(note: string, price: number): AskPart {
  return linePart(note, price, false, (draft) => draft.notes.push(note));
}

/** The line loses its reasons before it is left out. */
function missingPart(lines: readonly string[]): AskPart {
  return {
    forms: [...lines, ""],
    prices: [PRICE.missingReasons, PRICE.note],
    missed: false,
    put: (draft, form) => draft.notes.push(lines[form]!),
  };
}
