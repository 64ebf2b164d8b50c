import { dirname, join } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { packagedFile } from "../../base/util/packaged-file.ts";
import { VECTORS } from "../ranking/tuning.ts";
import type { Embedder } from "./embedder.ts";
import { hasCjk, loadManyLanguages, type ManyLanguages } from "./many-languages.ts";
import { DIMENSIONS, loadStaticTable, type StaticTable } from "./static-table.ts";

/** The offline default: sums word-piece vectors from tables. */
export interface StaticEmbedder extends Embedder {
  /** Loads the English table once. Its `embed` is synchronous and takes microseconds. */
  load(): Promise<StaticTable>;
}

const ENGLISH = "static-en-256";
const EURO = "static-euro-256";
const CJK = "cjk-256-pq";

interface Tables {
  readonly english: StaticTable;
  readonly languages: ManyLanguages;
}

/** Loaded once in a process, for any number of embedders. */
const loadPackaged = loadOnce(readPackaged);

/**
 * Creates an offline embedder with the tables of the package, or only with the English table in `directory`. See {@link
 * createEmbeddedIndex}.
 * @example
 * ```ts
 * import { createStaticEmbedder } from "keyhole/search";
 *
 * const embedder = createStaticEmbedder();
 * const [vector] = await embedder.embed(["refund"]);
 * console.assert(vector?.length === 256);
 * ```
 */
export function createStaticEmbedder(options: { readonly directory?: string } = {}): StaticEmbedder {
  const { directory } = options;
  const tables = directory === undefined ? loadPackaged : loadOnce(() => loadEnglish(directory));
  return {
    id: directory === undefined ? "static-256@2" : `${ENGLISH}@1`,
    dimensions: DIMENSIONS,
    isInstant: true,
    load: async () => (await tables()).english,
    reads: directory === undefined ? isRead : isMostlyLatin,
    fluency: (query) => (hasCjk(query) ? VECTORS.cjkFluency : 1),
    embed: async (texts) => (await tables()).languages.embed(texts),
    embedDocuments: async (texts) => (await tables()).languages.embedDocuments(texts),
    readForeign: async (query) => (await tables()).languages.readForeign(query),
  };
}

/** Retries after a failed load. */
function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

async function readPackaged(): Promise<Tables> {
  const models = await packagedModels();
  const english = await loadStaticTable(join(models, ENGLISH));
  const directories = { cjk: join(models, CJK), euro: join(models, EURO) };
  return { english, languages: await loadManyLanguages(english, directories) };
}

async function loadEnglish(directory: string): Promise<Tables> {
  const english = await loadStaticTable(directory);
  const embed = async (texts: readonly string[]) => texts.map((text) => english.embed(text));
  return { english, languages: { embed, embedDocuments: embed, readForeign: async () => undefined } };
}

/** Whether at least half of the letters belong to a script with a table. */
function isRead(query: string): boolean {
  return isMostly(query, /[\p{Script=Latin}\p{Script=Cyrillic}\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/u);
}

function isMostlyLatin(query: string): boolean {
  return isMostly(query, /\p{Script=Latin}/u);
}

function isMostly(query: string, kind: RegExp): boolean {
  const letters = query.match(/\p{L}/gu) ?? [];
  return letters.filter((letter) => kind.test(letter)).length * 2 >= letters.length;
}

async function packagedModels(): Promise<string> {
  const vocabulary = await packagedFile(join("models", ENGLISH, "vocab.txt"));
  if (vocabulary !== undefined) return dirname(dirname(vocabulary));
  throw problem("UNAVAILABLE", {
    name: `The embedding table ${ENGLISH}`,
    state: "missing",
    reason: "the package has no models folder; install it again.",
  });
}
