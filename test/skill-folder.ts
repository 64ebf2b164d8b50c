import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Writes a skill with its files into a folder. `fields` add to the front matter's name and description. */
export function writeSkill(
  place: string,
  name: string,
  { fields = "", body = "Do it well.", files = {}, manifest }: SkillText = {},
): string {
  const folder = join(place, name);
  const text =
    manifest ?? `---\nname: ${name}\ndescription: Helps with ${name}. And more.\n${fields}\n---\n${body}\n`;
  writeAt(join(folder, "SKILL.md"), text);
  for (const [path, content] of Object.entries(files)) writeAt(join(folder, path), content);
  return folder;
}

interface SkillText {
  readonly fields?: string;
  readonly body?: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The text of SKILL.md; replaces all other fields. */
  readonly manifest?: string;
}

function writeAt(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
