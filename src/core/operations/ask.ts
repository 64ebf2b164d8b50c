import type { MessageTemplate, ToolNames } from "../../base/problems/format-message.ts";
import { problem } from "../../base/problems/problem.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { nearest } from "../../base/util/nearest.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import { startsUnspaced } from "../../search/analysis/split-compounds.ts";
import { alikeKey, needsIn, takeTurns, withAlike } from "../../search/arrange.ts";
import { nameTableOf } from "../../search/lexical/names.ts";
import { PAGE } from "../../search/ranking/tuning.ts";
import type { View } from "../access/view.ts";
import { type Hit, hitLine, ruleId, ruleText, toDiscover } from "../answers/hit.ts";
import { conversationOf } from "../calls/run-entry.ts";
import type { Entry, Rule } from "../nouns/entry.ts";
import { deliverRules, discover } from "../sessions/working-memory.ts";
import { listNames } from "./describe-directory.ts";
import {
  type AskInput,
  type AskOutput,
  askInput,
  askOutput,
  type FoundEntries,
  fitAsk,
  leftOutText,
  nearNames,
} from "./fit-ask.ts";
import { resultTypeOf } from "./help.ts";
import { missingLines } from "./missing-servers.ts";
import { defineOperation, type OperationContext } from "./operation.ts";
import { countWanted, type RankedEntries, rank, withRelated } from "./rank.ts";

const FEW_HITS = 3;
const LEARNED_CHARS = 200;
const MOST_SUGGESTIONS = 5;
const MOST_NEAR = 8;
const RESULT_CHARS = 160;
const STARTING_CHARS = 200;
const MOST_LEFT_OUT = 3;
const MOST_WARMED = 3;
const EMPTY_CATALOG =
  "The catalog is empty, so there is nothing to find. Tell the user to add a server to it.";
const MOST_ALIKE_GROUPS = 2;
const MOST_PARAMS = 4;

/** An answer is written once: its text is measured while it is fitted. */
const textsOf = memoizeByObject((_output: AskOutput) => new Map<ToolNames["ops"], string>());

function toText(output: AskOutput, words: ToolNames): string {
  const texts = textsOf(output);
  const text = texts.get(words.ops) ?? answerText(output, words);
  texts.set(words.ops, text);
  return text;
}

export const ask = defineOperation({
  name: "ask",
  title: "Find what can help",
  purpose:
    "Finds tools, skills, prompts and documents for a need. Each hit has its address and signature, so most can be called at once.",
  introduction: "finds what fits a need",
  names: { lanes: "ask", routes: "ask", commands: "tool_search", code: "ask" },
  readOnly: true,
  input: askInput,
  output: askOutput,
  command: { usage: "NEED…", toInput: (words) => ({ query: words.join(" ") }) },
  // For people who debug a search, and for programs. Listing them would cost models tokens on every request.
  unlisted: ["explain", "perDomain"],
  aliases: { q: "query", need: "query", text: "query", search: "query" },
  calls: () => [],
  run: findAll,
  show: (found, room) => fitAsk(found, room, (output) => toText(output, room.words)),
  toText,
  errors: () => [],
  refuse: () => ({ queries: [], hits: [], domains: [], rules: [], suggestions: [], notes: [], omitted: 0 }),
  noteShown: (output, context) => {
    const found = output.hits.filter((hit) => !hit.entryPoint);
    warmUp(found, context.view);
    const about = new Set(found.slice(0, output.queries.length).map(({ domain }) => domain));
    // The way into another domain is still to be shown by an answer about that domain.
    const shown = output.hits.filter(({ wayIn, domain }) => !wayIn || about.has(domain));
    const seen = context.discovers === undefined ? shown : toDiscover(found, context.discovers);
    const discovered = seen.filter((hit) => hit.kind !== "resource");
    context.session?.update((memory) =>
      deliverRules(discover(memory, discovered.map(addressOf)), output.rules.map(ruleId)),
    );
    for (const query of output.queries) {
      context.services.learning?.note({
        kind: "asked",
        ...conversationOf(context),
        query: cutText(query, LEARNED_CHARS),
        shown: found.map((hit) => hit.route),
      });
    }
  },
  cause: "ask",
  asides: ({ rules }) => rules.map((rule) => ({ cause: "rules", text: `${ruleText(rule)}\n` })),
  targets: () => [],
});

/** The words of a query that name a thing with its domain, as in `files.read` and `files://tools/read`. */
const ADDRESS = /(?<![\w.-])[A-Za-z][\w-]*(?:\.|:\/\/)\S+/g;

async function findAll(asked: AskInput, context: OperationContext): Promise<FoundEntries> {
  const { view, discovers } = context;
  const input = { ...asked, ...(asked.domain && { domain: view.toNamed(asked.domain) }) };
  if (input.domain && !view.domains.has(input.domain)) {
    const near = nearest(input.domain, view.domains.keys());
    throw problem("NOT_FOUND", { name: `Domain ${cutText(input.domain, 80)}` }, { nearest: near });
  }
  const wanted = input.queries ?? needsIn(input.query ?? "", view.shown);
  const queries = wanted.map((query) => query.replace(ADDRESS, view.toNamed));
  const rankings = await Promise.all(queries.map((query) => rank(query, input, context)));
  const count = countWanted(input, rankings);
  const ranked = rankings.flatMap(({ entries }) => entries);
  const most = input.queries || rankings.length === 1 ? count : PAGE.maxOfNeed;
  const worthy = rankings.map((ranking) => withoutRest(ranking, most));
  const relevant = withAlike(takeTurns(worthy, count), ranked, count);
  // The first hits become tools of the model, so related entries go before weaker matches there.
  const available =
    discovers === undefined
      ? []
      : withRelated(relevant.slice(0, discovers), { ...input, limit: discovers }, context);
  const shown = isFree(input, rankings)
    ? relevant
    : [...new Set([...available, ...takeTurns(rankings, count)])].slice(0, count);
  const hits = withRelated(shown, input, context);
  const seemsName = queries.some(isOneWord);
  const unsure = !rankings.some((ranking) => ranking.named) && (seemsName || ranked.length < FEW_HITS);
  return {
    input,
    queries,
    view,
    hits,
    relevant: new Set([...relevant, ...available]),
    isSure: isFree(input, rankings) && rankings.every(isSure),
    shownBefore: shownBefore(context),
    rules: rulesFor(discovers === undefined ? hits : available, context),
    suggestions: unsure ? suggest(queries, hits, input, view) : [],
    notes: [
      ...stillStarting(input, view),
      ...stillEmbedding(rankings),
      ...(hits.length === 0 ? nothingFound(queries, rankings, context) : badlyRead(rankings)),
    ],
    missing: missingLines(view, context.failedSources(), input.domain),
    alike: alikeHits(relevant),
    asides: leftOut(input, view),
    returns: (entry) => resultTypeOf(entry, context, RESULT_CHARS),
    explanations:
      input.explain && Object.fromEntries(rankings.flatMap(({ explanations }) => [...explanations])),
  };
}

/** Whether the answer may stop where relevance falls off, because neither caller nor domain says how many hits to show. */
function isFree({ limit, perDomain }: AskInput, rankings: readonly RankedEntries[]): boolean {
  return limit === undefined && perDomain === undefined && !rankings.some(({ segmented }) => segmented);
}

/** Whether the query names what it is about, or few hits stand out. */
function isSure({ named, keep, entries }: RankedEntries): boolean {
  return keep > 0 && keep <= FEW_HITS && (named || keep < entries.length);
}

/** Sentences of Chinese, Japanese or Thai have no spaces and are not one word. */
function isOneWord(query: string): boolean {
  const text = query.trim();
  return /^\S+$/u.test(text) && !startsUnspaced().test(text);
}

function withoutRest(ranking: RankedEntries, most: number): RankedEntries {
  const keep = ranking.named ? ranking.keep : Math.min(ranking.keep, most);
  return { ...ranking, entries: ranking.entries.slice(0, Math.max(1, keep)) };
}

function answerText(output: AskOutput, words: ToolNames): string {
  const toLine = (hit: Hit) => hitLine(hit, words);
  const groups = output.domains.map(({ name, description }) => [
    description ? `## ${name}: ${description}` : `## ${name}`,
    ...entryPointsFirst(output.hits.filter((hit) => hit.domain === name && !hit.shownBefore)).map(toLine),
  ]);
  const repeated = output.hits.filter((hit) => hit.shownBefore).map(addressOf);
  return [
    ...output.notes,
    ...groups.flat(),
    ...(repeated.length > 0 ? [`Also fits, shown before in this session: ${repeated.join(", ")}`] : []),
    ...output.rules.map(ruleText),
    ...(output.suggestions.length > 0 ? [nearNames(output.suggestions)] : []),
    ...(output.leftOut ? [leftOutText(output.leftOut)] : []),
    ...(output.omitted > 0 ? [`${output.omitted} more left out; raise maxTokens or name a domain.`] : []),
    ...(output.session ? [`session: ${output.session}`] : []),
  ].join("\n");
}

/** The way into a domain stands before its documents. */
function entryPointsFirst(hits: readonly Hit[]): Hit[] {
  const place = hits.findIndex(({ kind }) => kind === "resource");
  const { ways = [], others = [] } = Object.groupBy(hits.slice(place), (hit) =>
    hit.wayIn ? "ways" : "others",
  );
  return place < 0 ? [...hits] : [...hits.slice(0, place), ...ways, ...others];
}

/** Entries that earlier answers showed. None if found tools become tools of the model: each answer must name them. */
function shownBefore({ session, view, discovers }: OperationContext): ReadonlySet<Entry> {
  const names = discovers === undefined ? (session?.memory.discoveredTools ?? []) : [];
  return new Set(names.flatMap((name) => view.find(name) ?? []));
}

/** The rules of the domains and categories in the answer that this session has not received yet. */
function rulesFor(hits: readonly Entry[], { view, session }: OperationContext): Rule[] {
  const categories = new Set(hits.map((entry) => `${entry.domain}/${entry.category ?? ""}`));
  const domains = new Set(hits.map((entry) => entry.domain));
  const delivered = new Set(session?.memory.rules);
  return [...domains]
    .flatMap((name) => view.domains.get(name)?.rules ?? [])
    .filter((rule) => rule.category === undefined || categories.has(`${rule.domain}/${rule.category}`))
    .filter((rule) => !delivered.has(ruleId(rule)));
}

/** Names close to the query, among entries that the caller may see. */
function suggest(queries: readonly string[], hits: readonly Entry[], input: AskInput, view: View): Entry[] {
  const names = spelledNames(view.shown);
  const worded = queries.filter((query) => /[\p{L}\p{N}]/u.test(query));
  const near = worded.flatMap((query) => nearest(cutText(query, 128), names, MOST_NEAR));
  const entries = new Set(near.map((name) => nameTableOf(view.shown).named(name).at(-1)!));
  return [...entries]
    .filter((entry) => !hits.includes(entry) && (!input.domain || entry.domain === input.domain))
    .slice(0, MOST_SUGGESTIONS);
}

const spelledNames = memoizeByObject(
  (shown: readonly Entry[]) => new Set(shown.flatMap(({ name, op, aliases }) => [name, op, ...aliases])),
);

/** Names what cannot be found because a server offers more than a listing holds. */
function leftOut({ domain }: AskInput, { domains }: View): string[] {
  return [...domains.values()]
    .filter(({ name }) => domain === undefined || name === domain)
    .flatMap(({ name, leftOut }) => (leftOut?.() ?? []).map((part) => `${name}: ${part} are left out.`))
    .slice(0, MOST_LEFT_OUT);
}

/** Starts the servers of the first hits while the model decides which to call. */
function warmUp(hits: readonly Hit[], { domains }: View): void {
  const callable = hits.filter(({ kind, unavailable, weak }) => kind === "tool" && !unavailable && !weak);
  const first = new Set(callable.map(({ domain }) => domain));
  for (const name of [...first].slice(0, MOST_WARMED)) domains.get(name)?.warm?.();
}

/** Names the servers whose tools cannot be found yet. */
function stillStarting({ domain }: AskInput, { starting }: View): MessageTemplate[] {
  const names = [...starting].filter((name) => domain === undefined || name === domain);
  if (names.length === 0) return [];
  const sentences =
    names.length === 1
      ? ["{names} is still starting.", "To find its tools, call {ask} again in a moment."]
      : ["{names} are still starting.", "To find their tools, call {ask} again in a moment."];
  return [{ sentences, fills: { names: listNames(names, STARTING_CHARS) } }];
}

/** Says that entries which have none of the query's words cannot be found yet. */
function stillEmbedding(rankings: readonly RankedEntries[]): MessageTemplate[] {
  const waiting = Math.max(0, ...rankings.map((ranking) => ranking.waiting ?? 0));
  if (waiting === 0 || rankings.every(({ named }) => named)) return [];
  const sentences = [
    "Only words were searched: {count} entries are still being indexed by meaning.",
    "If nothing fits, call {ask} again in a moment.",
  ];
  return [{ sentences, fills: { count: String(waiting) } }];
}

/** Says that search does not know the language of the query. */
function badlyRead(rankings: readonly RankedEntries[]): MessageTemplate[] {
  const fills = rankings.find(({ other }) => other)?.other;
  if (!fills) return [];
  const sentences = [
    "The query is in {query}, and this catalog is in {catalog}: if nothing fits, ask in that language.",
  ];
  return [{ sentences, fills: { ...fills } }];
}

function nothingFound(
  queries: readonly string[],
  rankings: readonly RankedEntries[],
  { view, failedSources }: OperationContext,
): MessageTemplate[] {
  const failed = failedSources();
  if (view.entries.length + view.starting.size + failed.length === 0) return [{ sentences: EMPTY_CATALOG }];
  const asked = queries.map((query) => JSON.stringify(cutText(query, 60))).join(", ");
  const other = rankings.find((ranking) => ranking.other)?.other;
  const example = exampleNeed(view);
  const isWhole = view.starting.size === 0 && missingLines(view, failed).length === 0;
  const sentences = [
    isWhole ? "Nothing here matches {asked}." : "Nothing so far matches {asked}.",
    ...(other ? ["The query is in {query}, and this catalog is in {catalog}: ask in that language."] : []),
    ...(example ? ['Try the action and the thing ("{example}").'] : []),
    "The whole map is in {help}.",
  ];
  return [{ sentences, fills: { asked, example: example ?? "", ...other } }];
}

/** An action and its thing that the caller may use, such as "create order". */
function exampleNeed({ shown }: View): string | undefined {
  const tool = shown.find(({ kind, op }) => kind === "tool" && op.split(".").length > 2);
  return tool?.op.split(".").slice(-2).reverse().join(" ");
}

/** Says of tools that several domains have by the same name how their params differ. */
function alikeHits(hits: readonly Entry[]): string[] {
  return [...Map.groupBy(hits, alikeKey)]
    .flatMap(([key, group]) => (key === undefined ? [] : [group]))
    .filter((group) => new Set(group.map(({ domain }) => domain)).size > 1)
    .slice(0, MOST_ALIKE_GROUPS)
    .map((group) => differencesOf(group.slice(0, PAGE.maxAlike)));
}

function differencesOf(group: readonly Entry[]): string {
  const params = group.map(({ inputSchema }) => Object.keys(fieldsOf(inputSchema.properties)));
  const differences = group.flatMap((entry, at) => {
    const others = new Set(params.toSpliced(at, 1).flat());
    const only = params[at]!.filter((name) => !others.has(name)).slice(0, MOST_PARAMS);
    return only.length > 0 ? [`only ${entry.domain} takes ${only.join(", ")}`] : [];
  });
  const how = differences.length > 0 ? differences.join("; ") : "they take the same params";
  return `Alike: ${group.map(addressOf).join(", ")}; ${how}.`;
}
