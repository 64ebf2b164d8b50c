import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "../util/write-file-atomic.ts";

const recordSchema = z.object({ shape: z.record(z.string(), z.unknown()), results: z.int().min(1) });
const fileSchema = z.array(z.tuple([z.string().max(4_096), recordSchema]));

/** The shape of a tool's results, and how many results it was seen in. */
export type ShapeRecord = z.output<typeof recordSchema>;

const KEPT = 1_000;
const MAX_CHARS = 4 * 2 ** 20;

/** Reads the shapes of earlier runs. A missing or damaged file has none. */
export function readShapes(path: string): readonly (readonly [string, ShapeRecord])[] {
  try {
    const text = readFileSync(path, "utf8");
    return text.length > MAX_CHARS ? [] : fileSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

/** Writes shapes, the last ones given if there are too many. Others that the file has stay. Must not throw. */
export async function writeShapes(
  path: string,
  shapes: readonly (readonly [string, ShapeRecord])[],
): Promise<void> {
  const all = [...new Map([...readShapes(path), ...shapes])].slice(-KEPT);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileAtomic(path, JSON.stringify(all), 0o600);
  } catch {
    // Shapes that are not kept are observed again.
  }
}
