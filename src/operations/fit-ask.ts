import { fitPieces, type Piece } from "../render/fit-pieces.ts";
import type { Entry, Rule } from "../schema/entry.ts";
import { toSummary } from "../util/to-summary.ts";
import { type AskInput, type AskOutput, MIN_ASK_TOKENS } from "./ask-input.ts";
import { type Hit, hitForms, hitLine } from "./hit.ts";
import type { OperationContext } from "./operation.ts";

interface Found {
  readonly hits: readonly Entry[];
  readonly rules: readonly Rule[];
  readonly suggestions: readonly string[];
  readonly notes: readonly string[];
  readonly session?: string;
}

/** What it costs the reader to lose something; the cheapest goes first. Lines shrink before hits are dropped. */
const PRICE = {
  otherEntryPoint: 1,
  shorterHit: 10,
  rule: 20,
  signatureOnly: 30,
  domainDescription: 35,
  suggestions: 38,
  bareHit: 40,
  hit: 50,
  entryPoint: 60,
  firstHit: 70,
  domain: 80,
  note: 90,
};
const DESCRIPTION_CHARS = 90;
/** Kept free for saying how much was left out and for the session's handle. */
const CLOSING_TOKENS = 40;

/** A piece of the answer with what it puts into the output in each of its forms. */
interface Part extends Piece {
  /** Something the reader would miss, to be counted when it is left out. */
  readonly missed: boolean;
  put(output: Draft, form: number): void;
}

interface Draft {
  hits: Hit[];
  domains: { name: string; description: string; entryPoints: Hit[] }[];
  rules: Rule[];
  suggestions: string[];
  notes: string[];
}

/** The fullest answer within the token budget. */
export function fitAsk(
  found: Found,
  input: AskInput,
  context: OperationContext,
  toText: (output: AskOutput) => string,
): AskOutput {
  const wanted = input.maxTokens ?? context.limits.askTokens;
  const maxTokens = Math.max(MIN_ASK_TOKENS, Math.min(wanted, context.tokensLeft ?? wanted));
  const parts = toParts(found, input, context);
  let room = maxTokens - Math.min(CLOSING_TOKENS, MIN_ASK_TOKENS / 2);
  while (true) {
    const forms = fitPieces(parts, room, context.countTokens);
    const output = assemble(parts, forms, found);
    const text = toText(output);
    const tokens = context.countTokens(text);
    if (tokens <= maxTokens || room <= 0) return output;
    room -= Math.max(8, tokens - maxTokens);
  }
}

function assemble(parts: readonly Part[], forms: readonly number[], found: Found): AskOutput {
  const draft: Draft = { hits: [], domains: [], rules: [], suggestions: [], notes: [] };
  let omitted = 0;
  for (const [index, part] of parts.entries()) {
    const form = forms[index]!;
    if (part.forms[form] !== "") part.put(draft, form);
    else if (part.missed) omitted++;
  }
  const rankOf = new Map(found.hits.map((entry, place) => [entry.route, place]));
  const held = new Set(draft.hits.map((hit) => hit.domain));
  const domains = draft.domains.filter(({ name, entryPoints }) => held.has(name) || entryPoints.length > 0);
  return {
    ...draft,
    hits: draft.hits.sort((left, right) => rankOf.get(left.route)! - rankOf.get(right.route)!),
    domains,
    omitted,
    ...(found.session && { session: found.session }),
  };
}

function toParts(found: Found, input: AskInput, { view }: OperationContext): Part[] {
  const matched = [...new Set(found.hits.map((entry) => entry.domain))];
  const first = found.hits[0];
  const hitSet = new Set(found.hits);
  const pointsOf = (name: string) => (view.entryPoints.get(name) ?? []).filter((entry) => !hitSet.has(entry));
  const others = input.domain ? [] : [...view.entryPoints.keys()].filter((name) => !matched.includes(name));
  const lonely = input.domain && matched.length === 0 ? [input.domain] : [];
  return [
    ...found.notes.map(notePart),
    ...[...matched, ...lonely].flatMap((name) => [
      domainPart(name, view.domains.get(name)?.description ?? "", PRICE.domain),
      ...found.hits.filter((entry) => entry.domain === name).map((entry) => hitPart(entry, entry === first)),
      ...pointsOf(name).map((entry) => entryPointPart(entry, PRICE.entryPoint)),
    ]),
    ...others.flatMap((name) => [
      domainPart(name, view.domains.get(name)?.description ?? "", PRICE.otherEntryPoint),
      ...pointsOf(name).map((entry) => entryPointPart(entry, PRICE.otherEntryPoint)),
    ]),
    ...found.rules.map(rulePart),
    ...(found.suggestions.length > 0 ? [suggestionsPart(found.suggestions)] : []),
  ];
}

function hitPart(entry: Entry, first: boolean): Part {
  const forms = hitForms(entry);
  return {
    forms: [...forms.map(hitLine), ""],
    prices: [PRICE.shorterHit, PRICE.signatureOnly, PRICE.bareHit, first ? PRICE.firstHit : PRICE.hit],
    missed: true,
    put: (draft, form) => draft.hits.push(forms[form]!),
  };
}

function entryPointPart(entry: Entry, price: number): Part {
  const forms = hitForms(entry);
  const shrinking = [PRICE.shorterHit, PRICE.signatureOnly, PRICE.bareHit].map((step) =>
    Math.min(step, price),
  );
  return {
    forms: [...forms.map(hitLine), ""],
    prices: [...shrinking, price],
    missed: true,
    put: (draft, form) => draft.domains.at(-1)?.entryPoints.push(forms[form]!),
  };
}

/** A heading stands before its lines, so at the same price it is dropped after them. */
function domainPart(name: string, description: string, price: number): Part {
  const text = toSummary(description, DESCRIPTION_CHARS);
  return {
    forms: [`## ${name}: ${text}`, `## ${name}`, ""],
    prices: [Math.min(PRICE.domainDescription, price), price],
    missed: false,
    put: (draft, form) => draft.domains.push({ name, description: form === 0 ? text : "", entryPoints: [] }),
  };
}

function rulePart(rule: Rule): Part {
  return {
    forms: [`Rules for ${rule.category ?? rule.domain}: ${rule.text}`, ""],
    prices: [PRICE.rule],
    missed: true,
    put: (draft) => draft.rules.push(rule),
  };
}

function suggestionsPart(suggestions: readonly string[]): Part {
  return {
    forms: [`Near names: ${suggestions.join(", ")}`, ""],
    prices: [PRICE.suggestions],
    missed: false,
    put: (draft) => draft.suggestions.push(...suggestions),
  };
}

function notePart(note: string): Part {
  return { forms: [note, ""], prices: [PRICE.note], missed: false, put: (draft) => draft.notes.push(note) };
}
