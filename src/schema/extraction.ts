/** Says where a tool's result names things. */
export interface ExtractionSchema {
  /** Dotted path to the data; `$root` for the result itself. */
  readonly path: string;
  readonly type: string;
  readonly nameField: string;
  /** Default `id`. */
  readonly idField?: string;
  readonly isArray?: boolean;
}

/** A thing that a result names. */
export interface Entity {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly timestamp: Date;
}
