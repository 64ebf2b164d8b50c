import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recipesFolder } from "../../src/program/open/user-folders.ts";
import { agree, chaos, openProgram } from "./program.ts";

const RECIPE = "---\ndescription: Says four.\n---\n```js\nreturn 2 + 2\n```\n";

/** Writes a recipe into the folder of a config, as if a model had kept it there. */
function keep(home: string, config: string): void {
  const folder = recipesFolder(config).replace(/^.*(?=\/\.keyhole\/recipes)/, home);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "four.md"), RECIPE);
}

test("T21: a recipe waits for approval by keyhole approve, and is a tool of its own config alone", async () => {
  const program = openProgram();
  const mine = program.write("mine.json", { mcpServers: { lab: chaos() } });
  const other = program.write("other.json", { mcpServers: { lab: chaos() } });
  for (const config of [mine, other]) await agree(program, "lab", "--config", config);
  keep(program.home, mine);
  const call = async (config: string) => {
    const { code, out, errors } = await program.keyhole("call", "recipes.four", "--config", config);
    return { code, text: out + errors };
  };
  expect((await call(mine)).text).toContain("keyhole approve recipes");
  const listed = await program.keyhole("approve", "recipes", "--config", mine);
  expect(listed.out).toContain("Says four.");
  expect(listed.out).toContain("return 2 + 2");
  await agree(program, "recipes", "--config", mine);
  expect(await call(mine)).toMatchObject({ code: 0, text: expect.stringContaining("4") });
  const elsewhere = await call(other);
  expect(elsewhere.code).not.toBe(0);
  expect(elsewhere.text).toMatch(/not found/i);
});
