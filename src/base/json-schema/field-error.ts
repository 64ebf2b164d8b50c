/** One error in params. */
export interface FieldError {
  /** Dotted path of the field; empty for the whole value. */
  readonly field: string;
  readonly message: string;
  /** For an unknown name: the nearest known one. */
  readonly nearest?: string;
}

/** Checked params: with defaults, or with all their errors. */
export type ParseOutcome =
  | { readonly ok: true; readonly value: Record<string, unknown>; readonly warnings?: readonly string[] }
  | { readonly ok: false; readonly errors: readonly FieldError[] };
