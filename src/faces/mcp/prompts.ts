import type { GetPromptResult, Prompt } from "@modelcontextprotocol/server";
import type { Skill } from "@modelcontextprotocol/server/ext/skills";
import { z } from "zod";
import { toArgs } from "../../base/json-schema/args.ts";
import { hidesText, toVisibleText } from "../../base/safety/visible-text.ts";
import type { Json } from "../../base/util/json.ts";
import { field } from "../../base/util/plain-object.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import type { View } from "../../core/access/view.ts";
import type { Entry, ReadableEntry } from "../../core/nouns/entry.ts";
import { toPlainText } from "../../core/nouns/plain-text.ts";
import { visiblePrompt } from "./call-native.ts";

const SUMMARY_CHARS = 300;

/** Lists prompts by their name. Prompts that share a name are listed by their op. */
export function listPrompts(view: View) {
  const entries = view.shown.filter((entry): entry is ReadableEntry => entry.kind === "prompt");
  const sharing = Map.groupBy(entries, (entry) => entry.name);
  const promptEntries = new Map<string, ReadableEntry>();
  for (const entry of entries) {
    promptEntries.set(sharing.get(entry.name)!.length === 1 ? entry.name : entry.op, entry);
  }
  return { promptEntries, prompts: [...promptEntries].map(([name, entry]) => toPrompt(name, entry)) };
}

function toPrompt(name: string, entry: ReadableEntry): Prompt {
  const { title, icons, _meta } = entry.presentation ?? {};
  const args = toArgs(entry.inputSchema).map((arg) => ({
    name: arg.name,
    ...(arg.description && { description: arg.description }),
    required: arg.required,
  }));
  return {
    name,
    ...(title !== undefined && { title }),
    description: toSummary(entry.description, SUMMARY_CHARS),
    ...(icons && { icons: icons as Prompt["icons"] }),
    ...(_meta && { _meta }),
    ...(args.length > 0 && { arguments: args }),
  };
}

/** Turns a loaded prompt into messages. A list of messages keeps its shape. */
export function toMessages(entry: ReadableEntry, value: Json): GetPromptResult {
  if (Array.isArray(field(value, "messages"))) return visiblePrompt(value as unknown as GetPromptResult);
  return {
    description: toSummary(entry.description, SUMMARY_CHARS),
    messages: [{ role: "user", content: { type: "text", text: toVisibleText(toPlainText(value)) } }],
  };
}

/** The name of the protocol's Skills extension. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";
export const listSkillsParams = z.object({ cursor: z.string().optional() });
export const getSkillParams = z.object({ uri: z.string() });

/** Lists the visible skills that can be published with all their files. */
export function listSkills(view: View): Skill[] {
  return view.shown.flatMap((entry) => (entry.kind === "tool" ? [] : (toSkill(entry) ?? [])));
}

/**
 * Finds an entry by its route or by the address of a skill's file: `skill://shop/pricing/x.md` is
 * `shop://skills/pricing/x.md`.
 */
export function findAddress(view: View, uri: string): Entry | undefined {
  const [, domain, path] = /^skill:\/\/([^/\s]{1,128})\/(\S{1,512})$/.exec(uri) ?? [];
  return view.find(uri) ?? (path === undefined ? undefined : view.find(`${domain}://skills/${path}`));
}

function toSkill({ domain, route, manifest, status }: Entry): Skill | undefined {
  if (!manifest || status) return undefined;
  const root = `skill://${domain}/${route.slice(`${domain}://skills/`.length)}`;
  const { frontmatter, files } = manifest;
  const { name, description } = frontmatter;
  if (typeof name !== "string" || typeof description !== "string" || !root.endsWith(`/${name}`))
    return undefined;
  const said = JSON.stringify(frontmatter);
  // The front matter goes out as written, so hidden characters in it are refused.
  if (hidesText(said)) return undefined;
  const resources =
    files === "dynamic"
      ? files
      : files.map(({ path, size, digest }) => ({ uri: `${root}/${path}`, digest, size }));
  return { uri: `${root}/SKILL.md`, frontmatter: { ...frontmatter, name, description }, resources };
}
