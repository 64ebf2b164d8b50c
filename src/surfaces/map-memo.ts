import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "../util/write-file-atomic.ts";

/** Caches the maps of menus by their input, so that an unchanged catalog is not counted at each start. */
export interface MapMemo {
  get(key: string): Promise<string | undefined>;
  /** Failing to write costs a count at the next start and nothing else. */
  set(key: string, map: string): Promise<void>;
}

/** Each principal and surface has its own menu; the latest are kept. */
const MOST_KEPT = 16;
const MAX_CHARS = 10_000;

const fileSchema = z.array(z.tuple([z.string(), z.string().max(MAX_CHARS)]));

/** Keeps maps in one file. A missing or damaged file is ignored. */
export function createMapMemo(path: string, mostKept = MOST_KEPT): MapMemo {
  async function read(): Promise<Map<string, string>> {
    try {
      return new Map(fileSchema.parse(JSON.parse(await readFile(path, "utf8"))));
    } catch {
      return new Map();
    }
  }

  return {
    get: async (key) => (await read()).get(key),
    set: async (key, map) => {
      const others = [...(await read())].filter(([other]) => other !== key);
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await writeFileAtomic(path, JSON.stringify([...others, [key, map]].slice(-mostKept)));
      } catch {
        // The contract allows a write to fail.
      }
    },
  };
}
