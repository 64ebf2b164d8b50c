/** One figure. Every benchmark returns rows of this shape. */
export interface Row {
  readonly bench: string;
  readonly case: string;
  readonly system: string;
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** Why there is no figure. The value is NaN then, which JSON writes as null. */
  readonly note?: string;
}

export interface BenchOptions {
  /** Directory of tool-search sets, or the document to read. */
  readonly data?: string | undefined;
  /** The largest number of documents. */
  readonly docs?: number | undefined;
  /** How long load lasts. */
  readonly minutes?: number | undefined;
  /** Runs only these systems. */
  readonly systems?: readonly string[] | undefined;
}

export type Benchmark = (options: BenchOptions) => Promise<Row[]>;
