/** A system that finds the nearest vectors, under measurement. */
export interface VectorEngine {
  /** Adds vectors of length one, numbered from `first`. */
  add(first: number, vectors: readonly Float32Array[]): Promise<void> | void;
  /** Makes what searches need. */
  finish(): Promise<void> | void;
  /** The numbers of the nearest, best first. */
  search(query: Float32Array, limit: number): Promise<number[]> | number[];
  close(): Promise<void> | void;
}

/** Makes an engine that may keep files in `folder`. */
export type CreateVectorEngine = (folder: string, dimensions: number) => VectorEngine;
