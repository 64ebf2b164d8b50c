/**
 * Every tuned constant of ranking, in the order of the stages that `rank.ts` lists. Each was chosen on the sets of
 * `npm run bench -- search` and `-- learning`; run those again after a change.
 */
import type { SearchField } from "../port/search-index.ts";

/** Stage 1: reading the query. */
export const QUERY = {
  /** UTF-16 units that are read: later text repeats what was said. */
  maxLength: 1_024,
  /** A number is mostly a value, not the thing asked for. */
  numberWeight: 0.5,
  /** Needs that one sentence is split into at most. */
  maxNeeds: 4,
  /** A need has a verb and a thing. */
  minNeedWords: 2,
  maxClauses: 8,
  /** A shorter clause (a character of an unspaced script counts twice) joins the clause before it. */
  minClauseLength: 16,
  /** A text is foreign if this share of its telling words is. */
  foreignShare: 1 / 3,
  /** Cosine from which a foreign word stands for a verb of tools; other words come to half of that. */
  sameVerb: 0.6,
  /** Verbs this much less near are meant too: "suchen" is to search and to find. */
  nextVerb: 0.1,
} as const;

/** How one field of a document counts. */
export interface FieldRule {
  readonly field: SearchField;
  readonly weight: number;
  /** Length in words at which a field is neither raised nor lowered. Fixed, so that no score depends on other documents. */
  readonly pivot: number;
  /** How much length matters, 0 to 1. */
  readonly lengthPenalty: number;
  /** Repetitions of a word beyond this add nothing: stuffing does not pay. */
  readonly maxRepeats: number;
  /** Words beyond this are not indexed. */
  readonly maxWords: number;
}

/** Stage 2: fields of a document. The order is the order of the bits in a posting's field mask. */
export const FIELD_RULES: readonly FieldRule[] = [
  { field: "name", weight: 3, pivot: 3, lengthPenalty: 0.5, maxRepeats: 2, maxWords: 32 },
  { field: "aliases", weight: 2, pivot: 12, lengthPenalty: 0.5, maxRepeats: 2, maxWords: 256 },
  { field: "description", weight: 1, pivot: 16, lengthPenalty: 0.5, maxRepeats: 4, maxWords: 512 },
  { field: "parameters", weight: 0.4, pivot: 40, lengthPenalty: 0.75, maxRepeats: 4, maxWords: 1024 },
  { field: "domainText", weight: 0.8, pivot: 20, lengthPenalty: 0.5, maxRepeats: 2, maxWords: 256 },
  { field: "content", weight: 0.5, pivot: 200, lengthPenalty: 0.5, maxRepeats: 8, maxWords: 4096 },
];

/** Bit of the one field that is too long to be part of a vector's text. */
export const CONTENT_ONLY = 1 << FIELD_RULES.findIndex(({ field }) => field === "content");

/** Impacts are integers of 16 bits; this one stands for 1. */
export const FULL_IMPACT = 65_535;

/** Stage 2: words. */
export const WORDS = {
  /** BM25's k1: at this weighted frequency a term reaches half of its greatest worth. */
  saturation: 1.2,
  /** Caps how much a domain's description counts towards document frequency, so that its nouns keep their weight. */
  domainShare: 0.1,
  /** Unknown words that are looked up by their likeness: each costs a walk of the dictionary. */
  maxUnknown: 4,
  /** Known terms that stand for one unknown word. */
  maxNear: 3,
  /** Worth of a term one edit away, two edits away, or that starts with the word, beside an exact match. */
  oneEdit: 0.4,
  twoEdits: 0.2,
  prefix: 0.4,
  /** A sure name outweighs all words of the query together, and its exact spelling all of that once more. */
  sureName: 2.1,
} as const;

/** Stage 3: clauses by words. Every sentence of a query keeps a say beside the whole. */
export const CLAUSES = {
  /** The whole query counts this many times as much as a clause. */
  wholeWorth: 2,
  /** Sharpens a clause's own list, so that its best few come through and the others do not crowd. */
  sharpness: 2,
  /** Holds a clause with weak evidence back. */
  strengthExponent: 0.5,
  depth: 50,
} as const;

/** Stage 4: vectors. */
export const VECTORS = {
  /** Documents by words, and by vectors, that take part in a blend. */
  depth: 100,
  /** A query nearer to no document than this is about none of them. */
  leastCosine: 0.25,
  wholeWorth: 2,
  /** Cosines lie closer together than word scores, so clauses are sharpened more. */
  sharpness: 4,
  /** Trust in character grams (Chinese, Japanese, Korean): where words match too, they decide. */
  cjkFluency: 0.25,
  /** Hits by words that say whether the query is about bodies, which vectors do not hold. */
  judgedHits: 3,
} as const;

/** Stage 5: words and vectors together. */
export const FUSION = {
  /** Above this confidence the words decide alone. */
  wordsDecide: 0.8,
  /** Below this the vectors lead, and the words keep `leastSay`. */
  vectorsLead: 0.3,
  leastSay: 0.1,
  /** A list is sure if its best hit stands well above the hit at this place. */
  peakPlace: 10,
  /** Cosines lie closer together than word scores: their peak counts this many times. */
  vectorPeakWorth: 2,
  leastPeak: 0.1,
} as const;

/** Stage 6: quality, 0 to 100. */
export const QUALITY = {
  neutral: 50,
  /** The best quality raises a score by this share, the worst lowers it by as much. */
  influence: 0.1,
} as const;

/** Stage 6: the best hit that destroys has this share of the score of the last hit that stands out. */
export const DESTROYING_SHARE = 0.99;

/** Stage 7: authors' phrases. */
export const PHRASES = {
  /** A query less like a phrase than this is about something else. */
  unlike: 0.5,
  /** Entries without phrases lose one place at most among this many first hits. */
  first: 5,
  neighbours: 16,
  /** Phrases this much alike mean the same, where there are too few to compare. */
  same: 0.9,
  /** Phrases that are compared with those of other entries, and among how many nearest. */
  compared: 256,
  maxShared: 64,
  /** Share of the compared phrases that may be more like a phrase of another entry. */
  errorShare: 0.01,
} as const;

/** Stage 8: past use. */
export const USE = {
  neighbours: 16,
  /** Queries less alike than this share a subject at most, not a need. */
  unlike: 0.3,
  /** Queries at least this alike differ in an article or an ending. */
  same: 0.9,
  /** Doubt that a single distant neighbour does not overcome. */
  doubt: 0.2,
  halfLifeMs: 90 * 24 * 3_600_000,
  /**
   * Weights before anything is learned: search's share, margin and place; certainty, nearness and correction. A
   * place that search got wrong for the same query outweighs search (the last equals the first); distant neighbours
   * alone do not. A first hit that stands alone is surer than one among equals; where all are equal, places decide.
   */
  prior: [8, 4, 0.5, 2, 2, 8],
  /** Newer uses weigh more: a use counts half after about a hundred others. */
  rate: 0.5,
  /** Pulls weights back to the prior where uses say nothing. */
  pull: 0.01,
  leastShareWeight: 1,
  /** A use that was followed by another for the same need. Weaker than a failure: both may be steps of one task. */
  doubted: -0.5,
  /** As many other principals have to use an entry before it is raised for one that did not. */
  often: 3,
  /** Queries of others at least this alike count for that. */
  alike: 0.6,
  /** Hits with this share of search's best score: the use of others puts nothing before them. */
  foundWell: 0.5,
  /** The share that the use of others raises an entry to. */
  sharedShare: 0.4,
  /** Queries that share this part of their words ask for the same. */
  sameNeed: 0.5,
} as const;

/** Stage 9: an entry that often follows the last call. Enough to decide between about equal hits. */
export const EXPECTED_LIFT = 0.1;

/** Stages 10 to 13: the page that the caller sees. */
export const PAGE = {
  /** Hits of an answer whose caller names no limit, before it is cut where relevance falls. */
  defaultLimit: 10,
  /** Bounds an answer whose size the domains decide, by `perDomain` or by segments. */
  maxHits: 200,
  maxSearched: 1_000,
  /** Share of a page that one domain may fill while others have relevant hits. */
  domainShare: 0.7,
  /** Tools of one name from several domains that stand together. */
  maxAlike: 4,
  /** A sentence with several needs shows this many hits for each: most of its parts are details of one. */
  maxOfNeed: 3,
  /** An answer to many needs has room for this many hits of each. */
  leastOfNeed: 2,
} as const;

/** Stage 12: the cut. */
export const CUT = {
  /** Hits below this share of the way from the background to the best score are left out. Keeps 97 % of the recall of ten hits with half of them. */
  share: 0.25,
  /** A discovered tool costs its definition on each later request, so fewer hits count than are shown. */
  discoveredShare: 0.6,
  /** Below this share of the best score hits have little in common with the query, whatever the background. */
  least: 0.45,
  /** A hit at this place is hardly about the query: its score is the background. */
  backgroundPlace: 20,
  most: 12,
} as const;
