import type { TokenCounter } from "../../src/base/tokens/tokens.ts";
import { countOf } from "../../src/base/util/count-of.ts";
import { readRows } from "../facts.ts";
import { offeredTools, withoutHidden } from "../offered-tools.ts";
import { toolResults } from "../tool-results.ts";
import { outcomesIn } from "./outcomes.ts";
import type { Size } from "./servers.ts";
import type { TourObserved, Way } from "./tour.ts";

/** One tour in figures. Tokens are o200k; bytes of pictures are not counted. */
export interface TourRow {
  readonly client: string;
  readonly version: string;
  readonly way: Way;
  readonly size: Size;
  readonly requests: number;
  /** Tokens of the first request. */
  readonly first: number;
  /** Tokens of all results of tools, definitions that a search loads included. */
  readonly results: number;
  /** Tokens of all requests. */
  readonly sum: number;
  /** Outcomes that were not reached. */
  readonly missed: readonly string[];
  /** Outcomes of which the model reads that a person has to approve the call first. */
  readonly waits: readonly string[];
  /** The variables of the person that a server saw. */
  readonly variables: readonly string[];
  /** Whether a server learned the folder of the project as a root. */
  readonly roots: boolean;
  /** Tools that the servers listed. */
  readonly tools: number;
  /** Whether a tool that the client's config denies can be called; undefined if the client has no such rule. */
  readonly denies?: boolean | undefined;
}

const WAITS = /runs only after a person has approved|APPROVAL_/;

export function toRow(
  about: Pick<TourRow, "client" | "version" | "way" | "size">,
  observed: TourObserved,
  countTokens: TokenCounter,
): TourRow {
  const requests = observed.requests.filter((body) => offeredTools(body).length > 0);
  const tokens = requests.map((body) => countTokens(JSON.stringify(withoutPictures(withoutHidden(body)))));
  const results = toolResults(requests.at(-1) ?? {});
  const records = Object.values(observed.taps).map((tap) => tap.filter(({ at }) => at >= observed.startedAt));
  const starts = records.flat().filter(({ event }) => event === "start");
  const seen = new Set(starts.flatMap(({ variables = [] }) => variables));
  const last = requests.at(-1);
  return {
    ...about,
    requests: requests.length,
    first: tokens[0] ?? 0,
    // A client may load definitions that its search finds as tools, not as text.
    results: last === undefined ? 0 : grown(last, requests[0]!, results, countTokens),
    sum: tokens.reduce((sum, each) => sum + each, 0),
    ...outcomesOf(observed, results),
    variables: observed.variables.filter((name) => seen.has(name)),
    roots: records
      .flat()
      .some(({ message }) => JSON.stringify(message?.result?.roots ?? "").includes("project")),
    tools: Object.values(observed.taps).reduce((sum, tap) => sum + listedTools(tap), 0),
    ...(observed.denies !== undefined && { denies: observed.denies }),
  };
}

function grown(
  last: unknown,
  first: unknown,
  results: ReturnType<typeof toolResults>,
  countTokens: TokenCounter,
): number {
  const definitions = (body: unknown) =>
    countTokens(JSON.stringify((withoutHidden(body) as { tools?: unknown }).tools ?? []));
  const texts = results.reduce((sum, { text }) => sum + countTokens(text), 0);
  return texts + Math.max(0, definitions(last) - definitions(first));
}

function outcomesOf(
  { moves }: TourObserved,
  results: ReturnType<typeof toolResults>,
): Pick<TourRow, "missed" | "waits"> {
  const calls = outcomesIn("").flatMap(({ id, call }) => {
    const at = moves.findIndex(({ kind, outcome }) => kind === "call" && outcome === id);
    const text = results[at]?.text ?? "";
    return call ? { id, isReached: text.includes(call.shows), waits: WAITS.test(text) } : [];
  });
  return {
    missed: calls.flatMap(({ id, isReached, waits }) => (isReached || waits ? [] : id)),
    waits: calls.flatMap(({ id, waits }) => (waits ? id : [])),
  };
}

function listedTools(tap: TourObserved["taps"][string]): number {
  const counts = tap.flatMap(({ message }) => {
    const tools = message?.result?.tools;
    return Array.isArray(tools) ? tools.length : [];
  });
  return Math.max(0, ...counts);
}

/** Bytes of pictures cost by their size in pixels, not by their letters. Those that are part of a text are text. */
function withoutPictures(value: unknown, key = ""): unknown {
  if (typeof value === "string") {
    const isPicture = value.startsWith("data:image/") || (key === "data" && value.length > 200);
    return isPicture ? "" : value;
  }
  if (Array.isArray(value)) return value.map((each) => withoutPictures(each, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutPictures(each, name)]));
}

/** The recorded tours. */
export function readTours(): Promise<TourRow[]> {
  return readRows("tour");
}

/** The things that a person had directly and loses behind Keyhole. */
export function lostBehind(direct: TourRow, behind: TourRow): string[] {
  const outcomes = behind.missed.filter((id) => !direct.missed.includes(id));
  const variables = direct.variables.filter((name) => !behind.variables.includes(name));
  return [
    ...outcomes.map((id) => `outcome ${id}`),
    ...(variables.length > 0 ? [`variables ${variables.join(", ")}`] : []),
    ...(direct.roots && !behind.roots ? ["roots"] : []),
    ...(behind.tools < direct.tools ? [countOf(direct.tools - behind.tools, "tool")] : []),
    ...(behind.denies === false ? ["a denied tool runs"] : []),
  ];
}
