// Input and output of the process that runs an agent's SQL.
export interface SqlRequest {
  /** The database file. */
  readonly path: string;
  readonly sql: string;
  /** The tables that exist for the caller. */
  readonly tables: readonly string[];
  /** `read` returns rows, `write` changes them, `rehearse` changes them and undoes it. */
  readonly mode: "read" | "write" | "rehearse";
  readonly limit: number;
}

export type SqlAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly reason: string };
