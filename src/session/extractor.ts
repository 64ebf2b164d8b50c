import type { ToolEntry } from "../schema/entry.ts";
import type { Entity } from "../schema/extraction.ts";
import { reasonOf } from "../util/reason-of.ts";
import { extractEntities } from "./extract-entities.ts";

const MOST_REPORTED = 1_000;

/** How often entities were looked for and found. */
interface ExtractionCounts {
  /** Results of tools that have an extraction schema or extractor. */
  readonly results: number;
  readonly processed: number;
  readonly failed: number;
  readonly entities: number;
}

/** Finds entities in results and counts them. Must not throw: extraction never fails a call. */
export interface Extractor {
  extract(tool: ToolEntry, result: unknown, now: Date): Entity[];
  readonly counts: ExtractionCounts;
  /** Set if results came and none was processed. */
  readonly warning: string | undefined;
}

/** `onFailed` is called once for each tool whose extraction fails. */
export function createExtractor(onFailed: (detail: string) => void): Extractor {
  const counts = { results: 0, processed: 0, failed: 0, entities: 0 };
  const reported = new Set<string>();

  function fail(op: string, error: unknown): void {
    counts.failed += 1;
    if (reported.has(op) || reported.size >= MOST_REPORTED) return;
    reported.add(op);
    onFailed(`${op}: ${reasonOf(error)}`);
  }

  return {
    extract: (tool, result, now) => {
      if (!extracts(tool)) return [];
      counts.results += 1;
      try {
        const entities = extractEntities(tool, result, now);
        counts.processed += 1;
        counts.entities += entities.length;
        return entities;
      } catch (error) {
        fail(tool.op, error);
        return [];
      }
    },
    counts,
    get warning() {
      const { results, processed } = counts;
      return results > 0 && processed === 0
        ? `${results} tool results received but 0 processed. Entity extraction may be broken.`
        : undefined;
    },
  };
}

function extracts({ extraction, extractEntities: own }: ToolEntry): boolean {
  return extraction !== null || own !== undefined;
}
