import type { CreateEngine } from "./engine.ts";

export interface System {
  readonly name: string;
  /** The largest size to measure; larger ones would take most of the run. */
  readonly maxDocuments: number;
  /** Needs `bench/peers`. */
  readonly isPeer: boolean;
  /** A variable of the environment without which it cannot run. */
  readonly needs?: string;
  load(): Promise<{ createEngine: CreateEngine }>;
}

/** Keyhole and its peers. */
export const SYSTEMS: readonly System[] = [
  { name: "keyhole", maxDocuments: 1_000_000, isPeer: false, load: () => import("./keyhole.ts") },
  {
    name: "keyhole-postgres",
    maxDocuments: 64_000,
    isPeer: false,
    needs: "KEYHOLE_POSTGRES_URL",
    load: () => import("./postgres.ts"),
  },
  { name: "minisearch", maxDocuments: 64_000, isPeer: true, load: () => import("./minisearch.ts") },
  { name: "orama", maxDocuments: 64_000, isPeer: true, load: () => import("./orama.ts") },
  { name: "wink-bm25", maxDocuments: 64_000, isPeer: true, load: () => import("./wink-bm25.ts") },
  { name: "sqlite-fts5", maxDocuments: 1_000_000, isPeer: false, load: () => import("./sqlite-fts5.ts") },
  { name: "lancedb", maxDocuments: 1_000_000, isPeer: true, load: () => import("./lancedb.ts") },
  { name: "zvec", maxDocuments: 250_000, isPeer: true, load: () => import("./zvec.ts") },
];
