import type { Row } from "../benchmark.ts";

/** The greatest value that a figure of Keyhole may have, or the least one. */
interface Bar {
  readonly case: string;
  readonly system: string;
  readonly metric: string;
  readonly most?: number;
  readonly least?: number;
}

const BARS: readonly Bar[] = [
  { case: "1M", system: "keyhole", metric: "build_ms", most: 40_000 },
  { case: "1M", system: "keyhole", metric: "reopen_ms", most: 300 },
  { case: "1M", system: "keyhole", metric: "query_p50", most: 1.4 },
  { case: "1M", system: "keyhole", metric: "upsert_p95", most: 1 },
  { case: "1M", system: "keyhole", metric: "rss_mb", most: 407 },
  { case: "1M", system: "keyhole", metric: "vectors_p50", most: 5 },
  { case: "1M", system: "keyhole", metric: "vectors_recall", least: 0.98 },
  { case: "64k", system: "keyhole-postgres", metric: "query_p50", most: 5 },
];

/** Says on stderr which bars the figures keep to. Figures are in the rows; this is for people. */
export function printBars(rows: readonly Row[]): void {
  for (const { most = Number.POSITIVE_INFINITY, least = 0, ...bar } of BARS) {
    const row = rows.find(
      (other) => other.case === bar.case && other.system === bar.system && other.metric === bar.metric,
    );
    if (row === undefined) continue;
    const limit = least > 0 ? `at least ${least}` : `at most ${most}`;
    const verdict = row.value <= most && row.value >= least ? "kept" : "MISSED";
    console.error(
      `scale: ${verdict}: ${bar.case} ${bar.system} ${bar.metric} ${row.value.toPrecision(4)} (${limit})`,
    );
  }
}
