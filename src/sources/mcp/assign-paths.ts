import { cutText } from "../../util/cut-text.ts";

const MAX_CHARS = 128;
const ILLEGAL = /[^A-Za-z0-9_.-]+/g;
const LEGAL = /^(?!\.{1,2}$)[A-Za-z0-9_.-]+$/;

/**
 * Gives each name a unique path: the name itself, or the characters of it that a route allows. If names collide,
 * the first keeps the plain path. `taken` holds the paths in use and grows.
 */
export function assignPaths<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  taken: Set<string>,
  prefix = "",
): Map<T, string> {
  const paths = new Map<T, string>();
  const named = items.map((item) => {
    const name = nameOf(item);
    const segment = toSegment(name);
    return { item, name, segment, isExact: segment === name };
  });
  // Names that need no change get their path first.
  named.sort((left, right) => {
    if (left.isExact !== right.isExact) return left.isExact ? -1 : 1;
    return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
  });
  for (const { item, segment } of named) {
    let path = segment;
    for (let count = 2; taken.has(prefix + path); count += 1) path = `${segment}-${count}`;
    taken.add(prefix + path);
    paths.set(item, path);
  }
  return paths;
}

function toSegment(name: string): string {
  if (name.length <= MAX_CHARS && LEGAL.test(name)) return name;
  const plain = cutText(name, MAX_CHARS).replace(ILLEGAL, "-");
  let from = 0;
  let to = plain.length;
  // No regular expression: one anchored at the end takes quadratic time on runs of hyphens.
  while (from < to && (plain[from] === "-" || plain[from] === ".") && plain !== name) from += 1;
  while (to > from && plain[to - 1] === "-" && plain !== name) to -= 1;
  const segment = plain.slice(from, to);
  return segment === "" || segment === "." || segment === ".." ? "unnamed" : segment;
}
