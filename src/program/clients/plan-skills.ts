import { dirname, join } from "node:path";
import { readSkills } from "../../sources/markdown/skills/read-skills.ts";
import { skillPlaces } from "../../sources/markdown/skills/skill.ts";
import type { Client, ClientMachine } from "./client.ts";
import { readConfig } from "./edit-config.ts";
import { readText } from "./find-configs.ts";
import type { ConfigEdit, FormatName } from "./formats/format.ts";
import type { MovableServer } from "./plan-profiles.ts";

/** The line that stands in a client's instructions in place of its list of skills. */
export const SKILLS_LINE =
  "Skills are behind Keyhole: before a task, `ask` finds the skill and the tools for it together, and `get` reads the skill.";

/** The skills of the person as a server of Keyhole's config. */
export const SKILLS_SERVER: MovableServer = {
  name: "skills",
  config: { skills: true },
  notes: [],
  isOfProject: false,
  tools: {},
};

/** Changes of one file of a client. */
export interface PlannedEdits {
  readonly path: string;
  readonly format: FormatName;
  readonly edits: readonly ConfigEdit[];
}

/**
 * Plans one line for the client's model, and hides the copies that the client would list beside it. A skill that
 * Keyhole cannot read stays with the client.
 */
export async function planSkills(client: Client, machine: ClientMachine) {
  const { skills: ways, title } = client;
  if (!ways) return { files: [], notes: [`Keyhole knows no place for instructions of ${title}.`] };
  const line: PlannedEdits = {
    path: ways.instructions(machine),
    format: "text",
    edits: [{ at: [], remove: [], set: { [SKILLS_LINE]: {} } }],
  };
  const { skills } = await readSkills(skillPlaces({ home: machine.home }));
  const folders = ways.folders.map((folder) => join(machine.home, folder));
  const listed = skills.filter(({ folder }) => folders.includes(dirname(folder)));
  if (listed.length === 0) return { files: [line], notes: [] };
  const file = ways.hiding?.(machine);
  const config = file && (await readConfig(file.format, (await readText(file.path)) ?? ""));
  const edit = ways.hide?.(config, listed);
  if (!file || !edit) return { files: [line], notes: [`${title} still lists its own copies of skills.`] };
  return { files: [line, { ...file, edits: [{ ...edit, remove: [] }] }], notes: [] };
}
