/** Returns the URL of the next page from a `Link` header (RFC 8288). */
export function linkNext(header: string | null): string | undefined {
  for (const part of (header ?? "").slice(0, 8_000).split(/,(?=\s*<)/)) {
    const close = part.indexOf(">");
    const open = part.indexOf("<");
    if (open !== -1 && close > open && /;\s*rel="?next\b/i.test(part.slice(close))) {
      return part.slice(open + 1, close);
    }
  }
  return undefined;
}
