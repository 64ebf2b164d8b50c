import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "../util/write-file-atomic.ts";

/** Maps of menus by what they were fitted from, so that the same catalog need not be counted at each start. */
export interface MapMemo {
  get(key: string): Promise<string | undefined>;
  /** Failing to write costs a count at the next start and nothing else. */
  set(key: string, map: string): Promise<void>;
}

/** Principals and surfaces have menus of their own; the latest are kept. */
const KEPT = 16;
const MAX_CHARS = 10_000;

const fileSchema = z.array(z.tuple([z.string(), z.string().max(MAX_CHARS)])).max(KEPT);

/** Keeps maps in one file. What is missing or damaged is worked out again. */
export function createMapMemo(path: string): MapMemo {
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
        await writeFileAtomic(path, JSON.stringify([...others, [key, map]].slice(-KEPT)));
      } catch {
        // As the contract says.
      }
    },
  };
}
