// Realistic documents made from a seed, so that scale can be measured without a data set. Each document depends
// on its number alone, so none has to be stored.
import { readFileSync } from "node:fs";

export interface CorpusDocument {
  readonly id: string;
  /** `verb_noun_part`. */
  readonly name: string;
  /** 8 to 40 words. */
  readonly description: string;
  /** Parameter names. */
  readonly parameters: string;
}

export interface Corpus {
  /** Document `number`. Another `revision` has the same id and another text. */
  at(number: number, revision?: number): CorpusDocument;
  /** The first `count` documents. */
  batches(count: number, batchSize: number): Generator<CorpusDocument[]>;
  /** Queries of 3 to 8 words, each from the description of one of the first `count` documents. */
  queries(count: number, documents: number): string[];
}

const WORD_LIST = new URL("../models/static-en-256/vocab.txt", import.meta.url);
const WORD = /^[a-z]{3,}$/;

const VERBS =
  "get list find create update delete search send read write fetch add remove check run start stop export import convert".split(
    " ",
  );
const PARAMETERS = "id name type limit query url path format page date count value token status".split(" ");
/** Function words: common in documents, absent from queries, so that stop lists make no difference. */
const GLUE =
  "the and for with from that this are was which when into all its can not has also have been will their other more than you your his her him she they them were but one who out had there after would what about over then like back only some could where just during before through now most may between while under around did such being these both off until how even because since still any again those each own same too very should does must might per without within upon don didn".split(
    " ",
  );

const GLUE_SHARE = 0.35;
/** Flattens the head of the distribution: about one document in ten has the most common word. */
const FLATNESS = 10;
const TOPICS = 500;
const TOPIC_WORDS = 400;
const TOPIC_SHARE = 0.3;
/** Invented words make the vocabulary grow with the number of documents, as in real text. */
const COINED_SHARE = 0.05;
const COINED_GROWTH = 0.75;
const COINED_FACTOR = 20;

/** Makes the corpus of a seed. `list` has words, the most common first. */
export function createCorpus(seed = 1, list: readonly string[] = readWordList()): Corpus {
  const glue = new Set(GLUE);
  const words = list.filter((word) => !glue.has(word));
  const short = words.filter((word) => word.length <= 7);

  /** Zipf's law (Mandelbrot's form, exponent 1) by the inverse of its distribution. */
  const rank = (random: Random, size: number): number =>
    Math.floor(FLATNESS * (1 + size / FLATNESS) ** random() - FLATNESS);

  function coined(number: number): string {
    const random = createRandom(seed, number, 2);
    return short[Math.floor(random() * short.length)]! + short[Math.floor(random() * short.length)]!;
  }

  /** Draws the content words of document `number`. */
  function createDraw(number: number, random: Random): () => string {
    const topic = Math.floor(random() ** 2 * TOPICS);
    const coinedSoFar = COINED_FACTOR * (number + 1) ** COINED_GROWTH;
    return () => {
      const kind = random();
      if (kind < COINED_SHARE) return coined(Math.floor(random() ** 2 * coinedSoFar));
      if (kind >= COINED_SHARE + TOPIC_SHARE) return words[rank(random, words.length)]!;
      return words[(topic * 7919 + rank(random, TOPIC_WORDS) * 31) % words.length]!;
    };
  }

  function at(number: number, revision = 0): CorpusDocument {
    const random = createRandom(seed, number, 16 + revision);
    const draw = createDraw(number, random);
    const length = 8 + Math.floor(random() ** 1.5 * 33);
    const verb = pick(VERBS, random);
    const sentence = [verb];
    while (sentence.length < length) {
      sentence.push(random() < GLUE_SHARE ? GLUE[rank(random, GLUE.length)]! : draw());
    }
    const parameters = Array.from({ length: 1 + Math.floor(random() * 6) }, () =>
      random() < 0.4 ? pick(PARAMETERS, random) : `${draw()}_${pick(PARAMETERS, random)}`,
    );
    return {
      id: `entry_${number}`,
      name: `${verb}_${draw()}_${draw()}`,
      description: `${sentence.join(" ")}.`,
      parameters: parameters.join(" "),
    };
  }

  function query(number: number, documents: number): string {
    const random = createRandom(seed, number, 3);
    const { description } = at(Math.floor(random() * documents));
    const left = [...new Set(description.slice(0, -1).split(" "))].filter((word) => !glue.has(word));
    const length = Math.min(left.length, 3 + Math.floor(random() * 6));
    const chosen = Array.from({ length }, () => left.splice(Math.floor(random() * left.length), 1)[0]!);
    return chosen.join(" ");
  }

  return {
    at,
    *batches(count, batchSize) {
      for (let from = 0; from < count; from += batchSize) {
        yield Array.from({ length: Math.min(batchSize, count - from) }, (_, offset) => at(from + offset));
      }
    },
    queries: (count, documents) => Array.from({ length: count }, (_, number) => query(number, documents)),
  };
}

export type Random = () => number;

function pick(list: readonly string[], random: Random): string {
  return list[Math.floor(random() * list.length)]!;
}

/** Mulberry32, started from three numbers. */
export function createRandom(seed: number, number: number, salt: number): Random {
  let state = Math.imul(seed ^ Math.imul(number + 1, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(salt, 0xc2b2ae35);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The whole words of the embedding table's word list, which has common words first. */
function readWordList(): string[] {
  return readFileSync(WORD_LIST, "utf8")
    .split("\n")
    .filter((word) => WORD.test(word));
}
