import { parse } from "yaml";
import { type Fields, fieldsOf } from "../../../util/fields.ts";

const MAX_CHARS = 64_000;

/** The fields above a Markdown text, and where the text begins. What cannot be read has none. */
export function frontMatter(text: string): { readonly fields: Fields; readonly start: number } {
  const opening = /^\uFEFF?---[ \t]*\n/.exec(text)?.[0];
  if (opening === undefined) return { fields: {}, start: 0 };
  const head = text.slice(0, MAX_CHARS);
  const closing = /\n(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(head.slice(opening.length - 1));
  if (closing === null) return { fields: {}, start: 0 };
  const end = opening.length - 1 + closing.index;
  try {
    const fields = fieldsOf(parse(head.slice(opening.length, end), { maxAliasCount: 0, logLevel: "silent" }));
    return { fields, start: end + closing[0].length };
  } catch {
    return { fields: {}, start: 0 };
  }
}
