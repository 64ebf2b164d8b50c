import type { Json } from "../util/json.ts";

type TextUnit = "lines" | "chars";

/** The unit that an offset counts in. */
export type Unit = "items" | "fields" | TextUnit;

/** A part of a value that a page leaves out, and where to read on. */
export interface Left {
  /** JSON pointer within the value; empty for the value itself. */
  readonly path: string;
  readonly unit: Unit;
  /** The first one that the page leaves out. */
  readonly offset: number;
  readonly of: number;
}

export interface Page {
  readonly content: Json;
  readonly left: readonly Left[];
}

export interface PageRequest {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  /** `chars` reads any value as text by characters: a text as it is, anything else as its JSON. */
  readonly unit?: TextUnit | undefined;
}
