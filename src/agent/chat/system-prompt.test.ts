import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { readSystemPrompt } from "./system-prompt.ts";

test("the prompt has the rules of work and the state of git, also of a worktree", async () => {
  const [folder, worktree, home] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  mkdirSync(join(folder, ".git/worktrees/w"), { recursive: true });
  writeFileSync(join(folder, ".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, ".git/worktrees/w/HEAD"), "ref: refs/heads/fix/a\n");
  writeFileSync(join(worktree, ".git"), `gitdir: ${join(folder, ".git/worktrees/w")}\n`);
  const prompt = await readSystemPrompt(folder, false, home);
  expect(prompt).toContain("Git: on branch main at the start\n");
  expect(await readSystemPrompt(worktree, false, home)).toContain("Git: on branch fix/a at the start\n");
  expect(await readSystemPrompt(home, false, home)).toContain("Git: no repository in this folder\n");
  for (const said of ["run in parallel", "Commit, push", "numbers before the lines", "10)", "todo", "task"])
    expect(prompt).toContain(said);
});
