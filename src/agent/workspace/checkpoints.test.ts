import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createPermissions } from "../permissions/permissions.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { createWorkspace } from "./workspace.ts";

test("a turn is undone as a whole, and files that changed since are kept", async () => {
  const root = temporaryFolder();
  const at = (name: string) => join(root, name);
  for (const name of ["changed", "deleted", "touched"]) writeFileSync(at(name), `old ${name}\n`);
  const checkpoints = createCheckpoints();
  const permissions = createPermissions({ root, ask: async () => "once" });
  const workspace = createWorkspace({ permissions, checkpoints });
  const replace = (path: string, oldText: string, newText: string) =>
    workspace.edit({ path, oldText, newText });
  checkpoints.begin();
  await replace("changed", "old", "first");
  await replace("changed", "first", "second");
  await replace("touched", "old", "new");
  await workspace.write({ path: "made", text: "made\n" });
  await workspace.delete({ path: "deleted" });
  writeFileSync(at("touched"), "by the person\n");
  checkpoints.begin();
  const lines = await checkpoints.undo();
  expect(readFileSync(at("changed"), "utf8")).toBe("old changed\n");
  expect(readFileSync(at("deleted"), "utf8")).toBe("old deleted\n");
  expect(readFileSync(at("touched"), "utf8")).toBe("by the person\n");
  expect(existsSync(at("made"))).toBe(false);
  expect(lines.filter((line) => line.startsWith("Kept"))).toHaveLength(1);
  expect(await checkpoints.undo()).toEqual([expect.stringContaining("nothing to undo")]);
});
