import type { Skill } from "@modelcontextprotocol/server/ext/skills";
import { z } from "zod";
import type { View } from "../access/view.ts";
import type { Entry } from "../schema/entry.ts";
import { hidesText } from "../util/visible-text.ts";

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
