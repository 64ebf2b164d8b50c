import type { Client } from "@modelcontextprotocol/client";
import { toVisibleText } from "../../util/visible-text.ts";
import type { ListedSkill } from "./definition.ts";

const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";
const MAX_FILES = 512;
/** Limit for all skills together. */
const MAX_ALL_FILES = 20_000;
const MAX_BYTES = 16 * 2 ** 20;

/** Lists the skills of a server that declares the Skills extension, without reading their files. */
export async function fetchSkills(
  client: Client,
  timeout: number,
  warnings: string[],
): Promise<ListedSkill[]> {
  if (!client.getServerCapabilities()?.extensions?.[SKILLS_EXTENSION]) return [];
  const { SkillsClient } = await import("@modelcontextprotocol/client/ext/skills");
  const { skills, invalid } = await new SkillsClient(client, { skipInvalid: true }).list({}, { timeout });
  for (const { uri, reason } of invalid)
    warnings.push(toVisibleText(`its skill ${uri ?? "without an address"} is refused: ${reason}`, 500));
  let files = 0;
  return skills.flatMap((skill) => {
    const { uri, frontmatter, resources } = skill;
    files += resources.length;
    const refusal =
      files > MAX_ALL_FILES
        ? `it has more than ${MAX_ALL_FILES} files with the others`
        : refusalOf(uri, resources);
    if (refusal !== undefined) warnings.push(toVisibleText(`its skill ${uri} is refused: ${refusal}`, 500));
    const { name, description } = frontmatter;
    return refusal === undefined ? [{ name, description, uri, frontmatter, resources }] : [];
  });
}

function refusalOf(uri: string, resources: ListedSkill["resources"]): string | undefined {
  if (/^file:/i.test(uri)) return "it would be read from this machine";
  if (resources === "dynamic") return undefined;
  if (resources.length > MAX_FILES) return `it has more than ${MAX_FILES} files`;
  const bytes = resources.reduce((sum, { size }) => sum + size, 0);
  return bytes > MAX_BYTES ? `its files are larger than ${MAX_BYTES} bytes together` : undefined;
}
