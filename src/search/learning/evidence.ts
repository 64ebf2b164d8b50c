import type { Neighbour } from "./example-memory.ts";

/** The word of similar past queries about an entry. Every figure is a share from 0 to 1. */
export interface Evidence {
  /** The entry's share of all voices. */
  readonly certainty: number;
  /** The loudest single voice for the entry. */
  readonly nearness: number;
  /** Its share of the voices, each counted as far as search had ranked the entry too low for that query. */
  readonly correction: number;
  /** The share of the voices whose query had the entry above the one that was used. */
  readonly passedOver: number;
  /** Whether an example of the entry speaks, for or against it. */
  readonly isVoiced: boolean;
  /** Whether an ask had shown the entry, two asks agree on it, or one is nearly the query. */
  readonly isSupported: boolean;
}

/** Texts less alike than this share a subject at most, not a need. */
const UNLIKE = 0.3;
/** Texts at least this alike differ in an article or an ending. */
const SAME = 0.9;
/** Doubt that a single distant neighbour does not overcome. */
const DOUBT = 0.2;
const HALF_LIFE_MS = 90 * 24 * 3_600_000;

interface Voices {
  sum: number;
  corrections: number;
  loudestFor: number;
  loudestAgainst: number;
  passedOver: number;
  readonly asks: Set<string>;
  isSupported: boolean;
}

/** Counts the voices of a query's neighbours by entry: nearer and newer ones are louder, failures speak against. */
export function weighNeighbours(
  neighbours: readonly Neighbour[],
  now: number,
): ReadonlyMap<string, Evidence> {
  const voices = new Map<string, Voices>();
  const of = (route: string): Voices => {
    const own = voices.get(route) ?? silence();
    voices.set(route, own);
    return own;
  };
  const used = usedByAsk(neighbours);
  let total = DOUBT;
  for (const { example, likeness } of neighbours) {
    const age = Math.max(0, now - example.at) / HALF_LIFE_MS;
    const loudness = Math.max(0, (likeness - UNLIKE) / (1 - UNLIKE)) ** 2 * 0.5 ** age;
    const voice = loudness * example.weight;
    if (voice === 0) continue;
    const own = of(example.route);
    own.sum += voice;
    own.corrections += voice * example.shortfall;
    total += Math.abs(voice);
    if (voice < 0) {
      own.loudestAgainst = Math.max(own.loudestAgainst, -voice);
      continue;
    }
    own.loudestFor = Math.max(own.loudestFor, voice);
    own.asks.add(example.ask);
    own.isSupported ||= example.shown || likeness >= SAME || own.asks.size > 1;
    for (const route of example.passedOver) {
      if (!used.get(example.ask)!.has(route)) of(route).passedOver += voice;
    }
  }
  return new Map(Array.from(voices, ([route, own]) => [route, toEvidence(own, total)]));
}

function silence(): Voices {
  const none = { sum: 0, corrections: 0, loudestFor: 0, loudestAgainst: 0, passedOver: 0 };
  return { ...none, asks: new Set(), isSupported: false };
}

function toEvidence(own: Voices, total: number): Evidence {
  return {
    certainty: Math.max(0, own.sum / total),
    nearness: Math.max(0, own.loudestFor - own.loudestAgainst),
    correction: Math.max(0, own.corrections / total),
    passedOver: own.passedOver / total,
    isVoiced: own.loudestFor + own.loudestAgainst > 0,
    isSupported: own.isSupported,
  };
}

/** One ask may lead to several entries: none of them was passed over for another. */
function usedByAsk(neighbours: readonly Neighbour[]): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  for (const { example } of neighbours) {
    const routes = used.get(example.ask);
    if (routes) routes.add(example.route);
    else used.set(example.ask, new Set([example.route]));
  }
  return used;
}
