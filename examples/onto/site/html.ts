// Converts the pages of this site to HTML and back to text.
const ENTITIES = [
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&amp;", "&"],
] as const;

export function toHtml(title: string, paragraphs: readonly string[]): string {
  const body = paragraphs.map((paragraph) => `<p>${toEntities(paragraph)}</p>`).join("\n");
  return `<!doctype html><html><head><title>${toEntities(title)}</title></head><body>${body}</body></html>`;
}

/** Returns title and text of a page in one pass, without anything between < and >. */
export function toText(html: string): { title: string; text: string } {
  const end = html.indexOf("</title>");
  const title = end < 0 ? "" : html.slice(html.indexOf("<title>") + "<title>".length, end);
  const visible = html
    .slice(Math.max(0, end))
    .split("<")
    .map((piece) => piece.slice(piece.indexOf(">") + 1));
  return { title: fromEntities(title), text: fromEntities(visible.join("").trim()) };
}

function toEntities(text: string): string {
  return ENTITIES.toReversed().reduce((escaped, [entity, sign]) => escaped.replaceAll(sign, entity), text);
}

function fromEntities(text: string): string {
  return ENTITIES.reduce((plain, [entity, sign]) => plain.replaceAll(entity, sign), text);
}
