/**
 * Every tuned constant of ranking, in the order of the stages in `rank.ts`. Each was chosen with `npm run bench --
 * search` and `-- learning`; run those again after a change.
 */
import type { SearchField } from "../port/search-index.ts";

/** Stage 1: reading the query. */
export const QUERY = {
  /** UTF-16 units to read: later text repeats the beginning. */
  maxLength: 1_024,
  /** Numbers are usually values, not the thing wanted. */
  numberWeight: 0.5,
  /** Most needs in one sentence. */
  maxNeeds: 4,
  /** A need has a verb and a thing. */
  minNeedWords: 2,
  maxClauses: 8,
  /** A shorter clause joins the clause before it. A character of an unspaced script counts twice. */
  minClauseLength: 16,
  /** A text is foreign if this share of its significant words is. */
  foreignShare: 1 / 3,
  /** Minimum cosine of a foreign word and a verb of tools; other words reach half of that. */
  sameVerb: 0.6,
  /** Verbs within this distance of the nearest are meant too: "suchen" is to search and to find. */
  nextVerb: 0.1,
} as const;

/** Weighting of one field of a document. */
export interface FieldRule {
  readonly field: SearchField;
  readonly weight: number;
  /** Length in words with a neutral effect. Fixed, so that no score depends on other documents. */
  readonly pivot: number;
  /** Influence of length, 0 to 1. */
  readonly lengthPenalty: number;
  /** Further repetitions of a word add nothing, so that keyword stuffing is useless. */
  readonly maxRepeats: number;
  /** Further words are not indexed. */
  readonly maxWords: number;
}

/** Stage 2: fields of a document, in the order of bits in a posting's field mask. */
export const FIELD_RULES: readonly FieldRule[] = [
  { field: "name", weight: 3, pivot: 3, lengthPenalty: 0.5, maxRepeats: 2, maxWords: 32 },
  { field: "aliases", weight: 2, pivot: 12, lengthPenalty: 0.5, maxRepeats: 2, maxWords: 256 },
  { field: "description", weight: 1, pivot: 16, lengthPenalty: 0.5, maxRepeats: 4, maxWords: 512 },
  { field: "parameters", weight: 0.4, pivot: 40, lengthPenalty: 0.75, maxRepeats: 4, maxWords: 1024 },
  { field: "domainText", weight: 0.8, pivot: 20, lengthPenalty: 0.5, maxRepeats: 2, maxWords: 256 },
  { field: "content", weight: 0.5, pivot: 200, lengthPenalty: 0.5, maxRepeats: 8, maxWords: 4096 },
];

/** Bit of the only field that is too long to be embedded. */
export const CONTENT_ONLY = 1 << FIELD_RULES.findIndex(({ field }) => field === "content");

/** Impacts are 16-bit integers; this one stands for 1. */
export const FULL_IMPACT = 65_535;

/** Stage 2: words. */
export const WORDS = {
  /** BM25's k1: at this weighted frequency a term has half of its maximum score. */
  saturation: 1.2,
  /** Limits how much a domain's description adds to document frequency, so that its nouns keep their weight. */
  domainShare: 0.1,
  /** Unknown words to look up by similarity: each costs a walk through the dictionary. */
  maxUnknown: 4,
  /** Indexed terms that stand for one unknown word. */
  maxNear: 3,
  /** Weight of a term one edit away, two edits away, or with the word as prefix, compared with an exact match. */
  oneEdit: 0.4,
  twoEdits: 0.2,
  prefix: 0.4,
  /** A sure name outweighs all words of the query together, and its exact spelling all of that once more. */
  sureName: 2.1,
} as const;

/** Stage 3: clauses by words. Every sentence of a query influences the result. */
export const CLAUSES = {
  /** Weight of the whole query compared with a clause. */
  wholeWorth: 2,
  /** Sharpens the list of a clause, so that only its best hits rise. */
  sharpness: 2,
  /** Reduces clauses with weak evidence. */
  strengthExponent: 0.5,
  depth: 50,
} as const;

/** Stage 4: vectors. */
export const VECTORS = {
  /** Documents by words, and by vectors, in a blend. */
  depth: 100,
  /** A query with lower cosines is about none of the documents. */
  leastCosine: 0.25,
  wholeWorth: 2,
  /** Cosines are closer together than word scores, so clauses are sharpened more. */
  sharpness: 4,
  /** Trust in character grams (Chinese, Japanese, Korean): if words match too, words decide. */
  cjkFluency: 0.25,
  /** Hits by words that show whether the query is about bodies, which vectors do not cover. */
  judgedHits: 3,
} as const;

/** Stage 5: words and vectors together. */
export const FUSION = {
  /** Above this confidence only words decide. */
  wordsDecide: 0.8,
  /** Below this vectors lead, and words keep `leastSay`. */
  vectorsLead: 0.3,
  leastSay: 0.1,
  /** A list is clear if its best hit stands well above the hit at this position. */
  peakPlace: 10,
  /** Cosines are closer together than word scores: multiplies their peak. */
  vectorPeakWorth: 2,
  leastPeak: 0.1,
} as const;

/** Stage 6: quality, 0 to 100. */
export const QUALITY = {
  neutral: 50,
  /** The best quality raises a score by this share; the worst lowers it by as much. */
  influence: 0.1,
} as const;

/** Stage 6: score of the best destructive hit, as a share of the last hit that stands out. */
export const DESTROYING_SHARE = 0.99;

/** Stage 7: authors' phrases. */
export const PHRASES = {
  /** Lower similarity to a phrase means another topic. */
  unlike: 0.5,
  /** Among this many first hits, entries without phrases lose at most one position. */
  first: 5,
  neighbours: 16,
  /** Similarity of phrases with the same meaning, if there are too few to compare. */
  same: 0.9,
  /** Phrases to compare with those of other entries, and number of nearest ones. */
  compared: 256,
  maxShared: 64,
  /** Share of the compared phrases that may be closer to a phrase of another entry. */
  errorShare: 0.01,
} as const;

/** Stage 8: past use. */
export const USE = {
  neighbours: 16,
  /** Less similar queries share a topic at most, not a need. */
  unlike: 0.3,
  /** Queries at least this similar differ in an article or an ending. */
  same: 0.9,
  /** Doubt that a single distant neighbour cannot overcome. */
  doubt: 0.2,
  halfLifeMs: 90 * 24 * 3_600_000,
  /**
   * Initial weights: search's share, margin and place; certainty, nearness and correction. A position that search got
   * wrong for the same query outweighs search (the last equals the first); distant neighbours alone do not. A single
   * clear first hit is surer than one among equals; among equals, positions decide.
   */
  prior: [8, 4, 0.5, 2, 2, 8],
  /** Newer uses weigh more: after about a hundred others a use counts half. */
  rate: 0.5,
  /** Pulls weights back to the prior if uses show nothing. */
  pull: 0.01,
  leastShareWeight: 1,
  /** A use that was followed by another for the same need. Weaker than a failure: both may be steps of one task. */
  doubted: -0.5,
  /** Number of other principals that must use an entry before it is raised for one that did not. */
  often: 3,
  /** Minimum similarity of other principals' queries for that. */
  alike: 0.6,
  /** Hits with this share of search's best score: the use of others puts nothing before them. */
  foundWell: 0.5,
  /** The share to which the use of others raises an entry. */
  sharedShare: 0.4,
  /** Queries that share this part of their words have the same need. */
  sameNeed: 0.5,
} as const;

/** Stage 9: an entry that often follows the last call. Enough to decide between nearly equal hits. */
export const EXPECTED_LIFT = 0.1;

/** Stages 10 to 13: the page that the caller sees. */
export const PAGE = {
  /** Default hits of an answer, before the cut where relevance falls. */
  defaultLimit: 10,
  /** Most hits if domains decide the number, by `perDomain` or by segments. */
  maxHits: 200,
  maxSearched: 1_000,
  /** Share of a page that one domain may fill while others have relevant hits. */
  domainShare: 0.7,
  /** Tools with the same name from several domains that are shown together. */
  maxAlike: 4,
  /** Hits for each need of a sentence with several: most of its parts are details of one. */
  maxOfNeed: 3,
  /** Minimum hits for each of many needs. */
  leastOfNeed: 2,
} as const;

/** Stage 12: the cut. */
export const CUT = {
  /** Omits hits below this share from background to best score: 97 % of the recall of ten hits with half of them. */
  share: 0.25,
  /**
   * Each later request pays for the definition of a discovered tool, so fewer hits count as discovered than are shown.
   */
  discoveredShare: 0.6,
  /** Below this share of the best score, hits are unrelated to the query, whatever the background. */
  least: 0.45,
  /** The hit at this position is unrelated to the query: its score is the background. */
  backgroundPlace: 20,
  most: 12,
} as const;
