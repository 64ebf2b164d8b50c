import type { JsonSchema } from "../base/json-schema/json-schema.ts";

const MAX_DEPTH = 6;
const MAX_CHARACTERS = 16_384;
const MAX_CHOICES = 64;

/** The words of an input schema for search: property names, descriptions and enum values. */
export function schemaText(schema: JsonSchema): string {
  const words: string[] = [];
  let room = MAX_CHARACTERS;
  const say: AddWord = (word) => {
    if (typeof word === "string" && room > 0) {
      words.push(word.length > room ? word.slice(0, room) : word);
      room -= word.length + 1;
    }
    return room > 0;
  };
  visit(schema, 0, say);
  return words.join("\n");
}

/** Adds a word if the value is one. False when the limit is reached. */
type AddWord = (word: unknown) => boolean;

function visit(node: unknown, depth: number, say: AddWord): void {
  if (depth > MAX_DEPTH || typeof node !== "object" || node === null) return;
  const schema = node as Record<string, unknown>;
  const { description, enum: choices, properties, items } = schema;
  if (depth > 0) say(description);
  if (Array.isArray(choices)) for (const choice of choices.slice(0, MAX_CHOICES)) say(choice);
  if (typeof properties === "object" && properties !== null) {
    for (const [name, property] of Object.entries(properties)) {
      if (!say(name)) return;
      visit(property, depth + 1, say);
    }
  }
  visit(items, depth + 1, say);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const options = schema[keyword];
    if (Array.isArray(options)) for (const option of options) visit(option, depth + 1, say);
  }
}
