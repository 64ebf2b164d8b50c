/** An outside object. Its fields may hold anything. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** The value if it is an object, else an empty object. */
export function fieldsOf(value: unknown): PlainObject {
  return isPlainObject(value) ? value : {};
}

export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a member of any name: assigning `__proto__` would change the prototype instead. */
export function setMember(target: object, name: string | number, value: unknown): void {
  if (name !== "__proto__") (target as Record<string | number, unknown>)[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Reads an own field, never an inherited one such as `constructor`. */
export function field(holder: unknown, name: string): unknown {
  return isPlainObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Copies JSON and replaces every text. */
export function mapTexts<T>(value: T, map: (text: string) => string): T {
  if (typeof value === "string") return map(value) as T;
  if (Array.isArray(value)) return value.map((part) => mapTexts(part, map)) as T;
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapTexts(part, map)])) as T;
}
