const MAX_ELEMENTS = 10_000;
const MAX_DEPTH = 64;

/** Says which limit on params a value exceeds. Undefined if none. Also ends on cyclic values. */
export function exceededLimit(root: object): string | undefined {
  const pending: { value: object; depth: number }[] = [{ value: root, depth: 1 }];
  let elements = 0;
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    const { value, depth } = item;
    if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels, which is the limit`;
    if (ArrayBuffer.isView(value)) continue;
    if (Array.isArray(value) && value.length > MAX_ELEMENTS) return tooMany();
    for (const member of Object.values(value)) {
      elements += 1;
      if (elements > MAX_ELEMENTS) return tooMany();
      if (typeof member === "object" && member !== null) pending.push({ value: member, depth: depth + 1 });
    }
  }
  return undefined;
}

function tooMany(): string {
  return `has more than ${MAX_ELEMENTS} elements in total, which is the limit`;
}
