import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Problem, problem } from "../../schema/problem.ts";
import type { Embedder } from "./embedder.ts";
import { loadStaticTable, type StaticTable } from "./static-table.ts";

/** The offline default: word-piece vectors from a table, summed. */
export interface StaticEmbedder extends Embedder {
  /** Reads the table once; its `embed` then answers synchronously, in microseconds. */
  load(): Promise<StaticTable>;
}

const NAME = "static-en-256";
const DIMENSIONS = 256;
const MAXIMUM_LEVELS = 5;

/** The packaged table is read once in a process, however many embedders use it. */
let packaged: Promise<StaticTable> | undefined;

/** Embeds with the table in `directory`, by default the one that comes with the package. */
export function createStaticEmbedder(options: { readonly directory?: string } = {}): StaticEmbedder {
  let loading: Promise<StaticTable> | undefined;

  function load(): Promise<StaticTable> {
    if (options.directory === undefined) return loadPackaged();
    loading ??= loadStaticTable(options.directory, DIMENSIONS).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  return {
    id: `${NAME}@1`,
    dimensions: DIMENSIONS,
    load,
    reads: isMostlyLatin,
    async embed(texts) {
      const table = await load();
      return texts.map((text) => table.embed(text));
    },
  };
}

function loadPackaged(): Promise<StaticTable> {
  packaged ??= packagedDirectory()
    .then((directory) => loadStaticTable(directory, DIMENSIONS))
    .catch((error: unknown) => {
      packaged = undefined;
      throw error;
    });
  return packaged;
}

/** The table was made from English; what it makes of other scripts is noise. */
function isMostlyLatin(query: string): boolean {
  const letters = query.match(/\p{L}/gu) ?? [];
  return letters.filter((letter) => /\p{Script=Latin}/u.test(letter)).length * 2 >= letters.length;
}

/** Walks up from this file, because sources and build lie at different depths below `models/`. */
async function packagedDirectory(): Promise<string> {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level <= MAXIMUM_LEVELS; level++) {
    const candidate = join(folder, "models", NAME);
    if (await isFile(join(candidate, "vocab.txt"))) return candidate;
    folder = dirname(folder);
  }
  throw missing();
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

function missing(): Problem {
  return problem("UNAVAILABLE", {
    name: `The embedding table ${NAME}`,
    state: "missing",
    reason: "the package has no models folder; install it again.",
  });
}
