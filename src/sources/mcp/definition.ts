import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/client";
import type { Skill } from "@modelcontextprotocol/client/ext/skills";
import { contentHash } from "../../base/util/content-hash.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";

/** A skill of a server, named by its front matter. */
export type ListedSkill = Pick<Skill, "uri" | "frontmatter" | "resources"> & {
  readonly name: string;
  readonly title?: undefined;
  readonly description: string;
};

export type Listed = Tool | Prompt | Resource | ResourceTemplateType | ListedSkill;

/** Fields that a person approves: they describe behaviour and do not change by themselves. */
const FIELDS = [
  "name",
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "arguments",
  "uri",
  "uriTemplate",
  "mimeType",
  "icons",
  "_meta",
  "frontmatter",
  "resources",
];

export interface Definition {
  readonly content: Readonly<Record<string, unknown>>;
  readonly hash: string;
}

export const toDefinition: (listed: Listed) => Definition = memoizeByObject((listed) => {
  const fields = Object.entries(listed).filter(
    ([name, value]) => FIELDS.includes(name) && value !== undefined && !isVolatile(listed, name),
  );
  const content = JSON.parse(JSON.stringify(Object.fromEntries(fields)));
  return { content, hash: contentHash(content) };
});

/** Annotations of a resource may contain the time of its last change. */
function isVolatile(listed: Listed, field: string): boolean {
  return (field === "annotations" || field === "_meta") && !("inputSchema" in listed);
}
