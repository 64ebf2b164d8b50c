import { WORD_FIELDS } from "./resource-document.ts";

/** The schema that the collection is created with. */
export function collectionSchema(name: string): object {
  const text = (field: string, more: object = {}): object => ({ name: field, type: "string", ...more });
  return {
    name,
    enable_nested_fields: false,
    fields: [
      // Sortable, so that ties go by id.
      text("uri", { sort: true }),
      text("domain", { facet: true }),
      text("path", { index: false, optional: true }),
      text("path_segment", { facet: true }),
      text("name"),
      text("description"),
      text("content"),
      { name: "scopes", type: "string[]", facet: true },
      { name: "is_unrestricted", type: "bool", facet: true },
      text("kind", { facet: true }),
      text("resource_type", { facet: true }),
      text("source_id", { facet: true, optional: true }),
      { name: "quality_score", type: "int32", sort: true, optional: true },
      { name: "indexed_at", type: "int64", sort: true, optional: true },
      text("category", { facet: true, optional: true }),
      { name: "tags", type: "string[]", facet: true },
      { name: "name_keys", type: "string[]" },
      ...WORD_FIELDS.map((field) => text(field.name)),
    ],
  };
}
