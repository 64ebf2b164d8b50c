import type { CreateVectorEngine } from "./engine.ts";

/** Keyhole's vectors and its peers. `maxVectors`: larger sizes would take most of the run. */
export const VECTOR_SYSTEMS: readonly {
  readonly name: string;
  readonly maxVectors: number;
  load(): Promise<{ createEngine: CreateVectorEngine }>;
}[] = [
  { name: "keyhole", maxVectors: 1_000_000, load: () => import("./keyhole.ts") },
  { name: "lancedb", maxVectors: 1_000_000, load: () => import("./lancedb.ts") },
  { name: "zvec", maxVectors: 250_000, load: () => import("./zvec.ts") },
];
