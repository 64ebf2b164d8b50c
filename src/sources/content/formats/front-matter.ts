import type { Fields } from "../../../util/fields.ts";
import { parseFrontMatter } from "../../markdown/files/front-matter.ts";

/** Reads the front matter of a Markdown text and where the text begins. Unreadable front matter counts as text. */
export function frontMatter(text: string): { readonly fields: Fields; readonly start: number } {
  try {
    const { data, body } = parseFrontMatter(text, "document");
    return text.endsWith(body)
      ? { fields: data, start: text.length - body.length }
      : { fields: {}, start: 0 };
  } catch {
    return { fields: {}, start: 0 };
  }
}
