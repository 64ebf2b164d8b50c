import type { Entry, ToolEntry } from "../schema/entry.ts";
import type { Entity } from "../schema/extraction.ts";
import { reasonOf } from "../util/reason-of.ts";
import { extractEntities } from "./extract-entities.ts";

export interface ExtractionCounts {
  /** Results of tools that say how the things in them are found. */
  readonly results: number;
  readonly processed: number;
  readonly failed: number;
  readonly entities: number;
}

/** Whether the things named in results are found. */
export interface ExtractionHealth extends ExtractionCounts {
  /** `degraded`: a known result did not give what it must, or results came and none was processed. */
  readonly status: "ok" | "degraded";
  readonly toolsWithExtraction: number;
  readonly customExtractors: number;
  readonly warnings: readonly string[];
}

/** Finds the things named in results, and counts how that goes. Must not throw: a call never fails by it. */
export interface Extractor {
  extract(tool: ToolEntry, result: unknown, now: Date): Entity[];
  health(entries: readonly Entry[]): ExtractionHealth;
  /** Set where results came and none was processed. */
  readonly warning: string | undefined;
}

/** `onFailed` hears once of every tool whose extraction fails. */
export function createExtractor(onFailed: (detail: string) => void): Extractor {
  const counts = { results: 0, processed: 0, failed: 0, entities: 0 };
  const reported = new Set<string>();
  const warning = () =>
    counts.results > 0 && counts.processed === 0
      ? `${counts.results} tool results received but 0 processed. Entity extraction may be broken.`
      : undefined;

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
    get warning() {
      return warning();
    },
    health: (entries) => {
      const tools = entries.filter((entry) => entry.kind === "tool");
      const warnings = [...(selfCheck() ? [] : [SELF_CHECK_FAILED]), ...(warning() ? [warning()!] : [])];
      return {
        status: warnings.length === 0 ? "ok" : "degraded",
        toolsWithExtraction: tools.filter(({ extraction }) => extraction !== null).length,
        customExtractors: tools.filter(({ extractEntities: own }) => own !== undefined).length,
        ...counts,
        warnings,
      };
    },
  };
}

const MOST_REPORTED = 1_000;
const SELF_CHECK_FAILED = "A known result did not give the entity in it.";

function extracts({ extraction, extractEntities: own }: ToolEntry): boolean {
  return extraction !== null || own !== undefined;
}

/** A known result must give the one thing in it. */
function selfCheck(): boolean {
  const extraction = { path: "data.pages", type: "page", nameField: "name", isArray: true };
  const entities = extractEntities(
    { extraction },
    { data: { pages: [{ id: "test-id", name: "Test Page" }] } },
  );
  return entities.length === 1 && entities[0]?.type === "page" && entities[0].id === "test-id";
}
