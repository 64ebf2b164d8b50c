import { contentHash } from "../../../util/content-hash.ts";

const MAX_PATH = 380;
const MAX_SEGMENT = 80;

/**
 * Returns the path of a resource, with letters, digits, hyphens and underscores only. A hash keeps it unique if a
 * segment loses more than blanks and dots, or the path is cut.
 */
export function resourcePath(...parts: readonly string[]): string {
  const raw = parts.join("/");
  const path = raw
    .split("/")
    .filter((segment) => segment.trim() !== "")
    .map(toSegment)
    .join("/");
  if (path.length <= MAX_PATH) return path;
  return `${wellFormed(path, MAX_PATH - 10).replace(/[/-]+$/, "")}-${shortHash(raw)}`;
}

/** Turns a heading or title into a segment, in lower case. */
export function slug(title: string): string {
  const words = wellFormed(title.toLowerCase(), 400).split(/[^\p{L}\p{M}\p{N}_]+/u);
  return wellFormed(words.filter(Boolean).join("-"), 60) || "part";
}

/** Returns the name, with a number if it is taken, and marks it as taken. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let number = 2; taken.has(unique); number++) unique = `${name}-${number}`;
  taken.add(unique);
  return unique;
}

function toSegment(segment: string): string {
  const plain = segment.trim().replace(/[\s.]+/gu, "-");
  const kept = plain.replace(/[^\p{L}\p{M}\p{N}_-]+/gu, "-").toWellFormed();
  if (kept === plain && kept.length <= MAX_SEGMENT && /[^-]/.test(kept)) return kept;
  return `${wellFormed(kept, MAX_SEGMENT).replace(/-+$/, "")}-${shortHash(segment)}`.replace(/^-+/, "");
}

function wellFormed(text: string, maxChars: number): string {
  return text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "");
}

function shortHash(text: string): string {
  return contentHash(text.toWellFormed()).slice(0, 8);
}
