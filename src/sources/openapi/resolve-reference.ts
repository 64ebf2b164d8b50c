import { pointerParts, unescapePart } from "../../schema/resolve-pointer.ts";
import { type Fields, field, isFields } from "../../util/fields.ts";

const MAX_CHAIN = 32;

/** Thrown where one operation cannot be used. The others can. */
export class Unusable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Follows references within the document. Returns the value itself if it is no reference. */
export function resolveReference(root: unknown, value: unknown): Fields {
  let at = value;
  for (let step = 0; step < MAX_CHAIN; step += 1) {
    const reference = field(at, "$ref");
    if (typeof reference !== "string") return isFields(at) ? at : {};
    at = findTarget(root, reference);
  }
  throw new Unusable("it has references that lead in a circle");
}

/** Finds the value at a local reference such as `#/components/schemas/Pet`. Fetches nothing. */
export function findTarget(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) {
    throw new Unusable(`its reference ${shown(reference)} leads outside the document, which is not followed`);
  }
  let at = root;
  for (const part of partsOf(reference)) at = Array.isArray(at) ? at[Number(part)] : field(at, part);
  if (at === undefined) throw new Unusable(`its reference ${shown(reference)} leads nowhere`);
  return at;
}

/** The keys of a local reference. One that is not percent-encoded is read as it stands. */
export function partsOf(reference: string): string[] {
  const fragment = reference.slice(1);
  return pointerParts(fragment) ?? fragment.split("/").slice(1).map(unescapePart);
}

function shown(reference: string): string {
  return JSON.stringify(reference.slice(0, 120));
}
