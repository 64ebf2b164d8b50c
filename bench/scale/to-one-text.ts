import type { CorpusDocument } from "../corpus.ts";

/** For engines whose full-text index has one column: searching one is cheaper than blending three. */
export function toOneText({ name, description, parameters }: CorpusDocument): string {
  return `${name}\n${description}\n${parameters}`;
}
