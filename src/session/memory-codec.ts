import { z } from "zod";
import { CAUSES } from "./tokens-by-cause.ts";
import type { WorkingMemory } from "./working-memory.ts";

const FORMAT = 2;
/** Its entities and results do not say what they came from, so they are forgotten. */
const BEFORE = 1;
const names = z.array(z.string()).readonly();
const needs = z.object({ scopes: names, routes: names, version: z.string().exactOptional() });

const storedSchema = z.object({
  format: z.literal([FORMAT, BEFORE]),
  discoveredTools: names,
  usedTools: z
    .array(
      z.object({
        name: z.string(),
        count: z.number(),
        lastUsed: z.string(),
        lastResult: z.enum(["success", "error"]),
      }),
    )
    .readonly(),
  entities: z
    .array(
      z.object({
        type: z.string(),
        id: z.string(),
        name: z.string(),
        timestamp: z.string().transform((time) => new Date(time)),
        needs: needs.exactOptional(),
      }),
    )
    .readonly(),
  rules: names,
  unveiled: names,
  results: z.array(z.object({ handle: z.string(), name: z.string(), needs })).readonly(),
  // Sessions stored by earlier versions have none.
  read: names.default([]),
  asked: names.default([]),
  summary: z.string().exactOptional(),
  tokens: z.record(z.enum(CAUSES), z.number()).readonly(),
});

/** Writes a memory for a store. */
export function toStored(memory: WorkingMemory): string {
  return JSON.stringify({ format: FORMAT, ...memory });
}

/** Reads a memory. Undefined if unreadable: the session then counts as unknown. */
export function fromStored(text: string): WorkingMemory | undefined {
  try {
    const stored = JSON.parse(text);
    const forgotten = stored.format === BEFORE ? { entities: [], results: [] } : {};
    const { format: _, ...memory } = storedSchema.parse({ ...stored, ...forgotten });
    return memory;
  } catch {
    return undefined;
  }
}
