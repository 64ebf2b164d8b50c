import type { JsonSchema } from "../schema/json-schema.ts";

const MAX_DEPTH = 6;
const MAX_CHARACTERS = 16_384;

/** The words of an input schema that search looks into: property names, descriptions and enum values. */
export function schemaText(schema: JsonSchema): string {
  const words: string[] = [];
  let room = MAX_CHARACTERS;
  const say = (word: unknown): void => {
    if (typeof word !== "string" || room <= 0) return;
    words.push(word.length > room ? word.slice(0, room) : word);
    room -= word.length + 1;
  };
  visit(schema, 0, say);
  return words.join("\n");
}

function visit(node: unknown, depth: number, say: (word: unknown) => void): void {
  if (depth > MAX_DEPTH || typeof node !== "object" || node === null) return;
  const schema = node as Record<string, unknown>;
  if (depth > 0) say(schema.description);
  if (Array.isArray(schema.enum)) for (const value of schema.enum.slice(0, 64)) say(value);
  const properties = schema.properties;
  if (typeof properties === "object" && properties !== null) {
    for (const [name, property] of Object.entries(properties)) {
      say(name);
      visit(property, depth + 1, say);
    }
  }
  visit(schema.items, depth + 1, say);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const options = schema[keyword];
    if (Array.isArray(options)) for (const option of options) visit(option, depth + 1, say);
  }
}
