import { type Fields, field, isFields } from "../../util/fields.ts";

const MAX_CHAIN = 32;

/** What keeps one operation from being used; the others are. */
export class Unusable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** The object that a reference leads to within the document; the value itself where it is no reference. */
export function resolveReference(root: unknown, value: unknown): Fields {
  let at = value;
  for (let step = 0; step < MAX_CHAIN; step += 1) {
    const reference = field(at, "$ref");
    if (typeof reference !== "string") return isFields(at) ? at : {};
    at = findTarget(root, reference);
  }
  throw new Unusable("it has references that lead in a circle");
}

/** The value at a local reference such as `#/components/schemas/Pet`. Nothing is fetched. */
export function findTarget(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) {
    throw new Unusable(`its reference ${shown(reference)} leads outside the document, which is not followed`);
  }
  let at = root;
  for (const part of pointerParts(reference.slice(1))) {
    at = Array.isArray(at) ? at[Number(part)] : field(at, part);
  }
  if (at === undefined) throw new Unusable(`its reference ${shown(reference)} leads nowhere`);
  return at;
}

export function pointerParts(fragment: string): string[] {
  let pointer = fragment;
  try {
    pointer = decodeURIComponent(fragment);
  } catch {
    // Not percent-encoded: read as it stands.
  }
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function shown(reference: string): string {
  return JSON.stringify(reference.slice(0, 120));
}
