import { contentHash } from "../../../util/content-hash.ts";

const MAX_PATH = 380;
const MAX_SEGMENT = 80;

/**
 * A path of a resource: each segment in letters, digits, hyphens and underscores. A segment that loses
 * more than blanks and dots by that, and a path that is cut, are told apart by a hash.
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

/** A heading or title as a segment, in lower case. */
export function slug(title: string): string {
  const words = wellFormed(title.toLowerCase(), 400).split(/[^\p{L}\p{M}\p{N}_]+/u);
  return wellFormed(words.filter(Boolean).join("-"), 60) || "part";
}

/** The name, or the name with the first number that makes it one of its own; remembers it. */
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
