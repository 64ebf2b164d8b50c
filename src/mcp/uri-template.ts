/** A part of a template: literal text or a variable. */
type Part = { readonly literal: string } | { readonly name: string; readonly slashes: boolean };

const MAX_CHARS = 4_096;

/**
 * Matches a URI against a template of `{name}` (no slash), `{+name}` (anything) and a last `{?a,b}`.
 * Templates may come from outside, so they never become regular expressions: each part is searched once, from
 * left to right.
 */
export function matchTemplate(template: string, uri: string): Map<string, string> | undefined {
  if (template.length > MAX_CHARS || uri.length > MAX_CHARS) return undefined;
  const { path, query } = splitQuery(template);
  const [uriPath = "", uriQuery] = query.length > 0 ? cut(uri, "?") : [uri];
  const found = new Map<string, string>();
  let rest = uriPath;
  const parts = toParts(path);
  for (const [index, part] of parts.entries()) {
    if ("literal" in part) {
      if (!rest.startsWith(part.literal)) return undefined;
      rest = rest.slice(part.literal.length);
      continue;
    }
    const next = parts[index + 1];
    const end =
      next && "literal" in next ? endOf(rest, next.literal, index + 2 === parts.length) : rest.length;
    const value = rest.slice(0, end);
    if (end <= 0 || (!part.slashes && value.includes("/"))) return undefined;
    found.set(part.name, decode(value));
    rest = rest.slice(end);
  }
  if (rest !== "") return undefined;
  for (const [name, value] of new URLSearchParams(uriQuery ?? "")) {
    if (query.includes(name)) found.set(name, value);
  }
  return found;
}

function splitQuery(template: string): { path: string; query: string[] } {
  const start = template.lastIndexOf("{?");
  if (start < 0 || !template.endsWith("}")) return { path: template, query: [] };
  return { path: template.slice(0, start), query: template.slice(start + 2, -1).split(",") };
}

function toParts(path: string): Part[] {
  const parts: Part[] = [];
  let rest = path;
  while (rest !== "") {
    const open = rest.indexOf("{");
    const close = rest.indexOf("}", open);
    if (open < 0 || close < 0) return [...parts, { literal: rest }];
    if (open > 0) parts.push({ literal: rest.slice(0, open) });
    const slashes = rest[open + 1] === "+";
    parts.push({ name: rest.slice(open + (slashes ? 2 : 1), close), slashes });
    rest = rest.slice(close + 1);
  }
  return parts;
}

/** Finds a literal at its first occurrence; the last one must end the URI. */
function endOf(text: string, literal: string, last: boolean): number {
  if (!last) return text.indexOf(literal, 1);
  return text.endsWith(literal) ? text.length - literal.length : -1;
}

function cut(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
