/** A value from outside as an object with fields, each of which may be anything. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object with fields; an empty one where it is something else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own field: names such as `constructor` mean nothing else. */
export function field(holder: unknown, name: string): unknown {
  return isFields(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
