/** Where the things named in a tool's result are found. */
export interface ExtractionSchema {
  /** Dotted path to the data; `$root` for the result itself. */
  readonly path: string;
  readonly type: string;
  readonly nameField: string;
  /** Default `id`. */
  readonly idField?: string;
  readonly isArray?: boolean;
}

export interface Entity {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly timestamp: Date;
}
