/** An object from outside. Its fields may hold anything. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object, else an empty one. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads an own field, never one of the prototype such as `constructor`. */
export function field(holder: unknown, name: string): unknown {
  return isFields(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
