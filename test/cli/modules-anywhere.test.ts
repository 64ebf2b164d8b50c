import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openSkills } from "../../src/program/open/open-skills.ts";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { keyhole } from "./kit.ts";

const TOOLS = `import { defineDomain, defineTool } from "keyhole";
import { contentFormats } from "keyhole/sources";
import { z } from "zod";

export const tool = defineTool({
  name: "create_note",
  description: "Write down a note.",
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text }: { text: string }) => ({ text, formats: Object.keys(contentFormats).length }),
});
export const domains = [defineDomain({ name: "notes", description: "Notes.", tools: [tool] })];
`;

verifies("config:imports", "a config in a folder without packages imports keyhole and zod", async () => {
  const home = temporaryFolder();
  const config = join(home, "keyhole.config.ts");
  writeFileSync(config, TOOLS);
  const words = ["call", "notes.note.create", "text=hi", "--allow-write", "--config", config];
  const { out, errors } = await keyhole(home, words);
  expect(out, errors).toContain('"text":"hi"');
});

test("a package that Keyhole does not have is still missing, and named", async () => {
  const home = temporaryFolder();
  const config = join(home, "keyhole.config.ts");
  writeFileSync(config, 'import "left-out-package";\nexport const domains = [];');
  const { errors } = await keyhole(home, ["ask", "x", "--config", config]);
  expect(errors).toContain("left-out-package");
});

/** A folder of skills of the person, each with a toolset. */
function writeSkills(toolsets: Readonly<Record<string, string>>): string {
  const place = temporaryFolder();
  for (const [name, toolset] of Object.entries(toolsets)) {
    const folder = join(place, name);
    mkdirSync(join(folder, "toolsets"), { recursive: true });
    const front = `---\nname: ${name}\ndescription: Take notes.\ntoolsets: ["toolsets/tools.ts:tools"]\n---\nText.`;
    writeFileSync(join(folder, "SKILL.md"), front);
    writeFileSync(join(folder, "toolsets/tools.ts"), toolset);
  }
  return place;
}

test("a toolset imports keyhole and zod, and one that is not loaded is told with the cause", async () => {
  const place = writeSkills({
    good: `${TOOLS}\nexport const tools = [tool];`,
    broken: 'throw new Error("no key for the notes");',
  });
  const told = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  const open = async (enabled?: string[]) => {
    told.mockClear();
    const settings = { disabled: [], places: [place], maxSkills: 3, ...(enabled && { enabled }) };
    const { domains } = await openSkills(settings, place, false);
    return { domains: domains.map(({ name }) => name), errors: told.mock.calls.flat().join("\n") };
  };
  const named = await open(["good", "broken"]);
  expect(named.domains, named.errors).toEqual(["good"]);
  expect(named.errors).toContain(
    "broken: the toolset toolsets/tools.ts:tools was not loaded: no key for the notes",
  );
  expect(named.errors).not.toContain("good: ");
  const unnamed = await open();
  expect(unnamed.domains).toEqual([]);
  expect(unnamed.errors).toContain(
    "good: its toolsets are not loaded: name the skill in skills.enabled of your settings",
  );
});
