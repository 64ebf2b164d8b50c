import { z } from "zod";
import { CAUSES, type WorkingMemory } from "../sessions/working-memory.ts";

const FORMAT = 1;
const names = z.array(z.string()).readonly();
const needs = z.object({ scopes: names, routes: names, version: z.string().exactOptional() });

const storedSchema = z.object({
  format: z.literal(FORMAT),
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
  read: names,
  asked: names,
  steeredBy: names.default([]),
  summary: z.string().exactOptional(),
  tokens: z.record(z.enum(CAUSES), z.number()).readonly(),
});

export function toStored(memory: WorkingMemory): string {
  return JSON.stringify({ format: FORMAT, ...memory });
}

/** Parses a memory. Throws if the text is unreadable: the session then counts as unknown. */
export function fromStored(text: string): WorkingMemory {
  const { format: _, ...memory } = storedSchema.parse(JSON.parse(text));
  return memory;
}
