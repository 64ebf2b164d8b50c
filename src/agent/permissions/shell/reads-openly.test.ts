import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setUpPermissions as setUp } from "../../../../test/set-up-permissions.ts";

test.each([
  "ls",
  "ls -la src",
  "git status --short",
  "git diff HEAD~1 -- a.ts",
  "git log --oneline -5",
  "cat a.ts | head -20",
  "rg -n 'one|two' src",
  "grep -n one a.ts",
  "find . -name '*.ts' && wc -l a.ts",
  "git branch --contains HEAD",
  "git branch -av --sort=refname",
  "git tag -l 'v*'",
  "jq .name a.json",
  "grep -q one a.ts || exit 1",
])("%s only reads, so nobody is asked", async (command) => {
  const { permissions, asked } = setUp({}, "deny");
  expect((await permissions.command(command)).allowed).toBe(true);
  expect(asked).toEqual([]);
});

test.each([
  "cat .env",
  "cat ~/.ssh/id_rsa",
  "ls /etc",
  "cat $FILE",
  "grep -r KEY .",
  "grep -nrI KEY .",
  "rg --hidden KEY",
  "rg -uu KEY",
  "printenv",
  "ps axe",
  "git diff --no-index a b",
  "git branch -D x",
  "git branch -v new",
  "git branch --sort=refname new",
  "git tag --column new",
  "git remote -v add a /b",
  "git remote show origin",
  "git ls-remote",
  "git log --format='%G?'",
  "git for-each-ref --format='%(signature)'",
  "jq -n env",
  "gojq '$ENV' a.json",
  "jq -n 'import \"./a\" as a; a::b'",
  "find . -delete",
  "ls > out",
  "PAGER=x git log",
  "cat a.ts | sh",
  "exit 1; make",
  "cat <<E\n$(touch x)\nE",
  "cat <<E\n`touch x`\nE",
])("%s is asked about", async (command) => {
  const { permissions, asked } = setUp({}, "deny");
  expect((await permissions.command(command)).allowed).toBe(false);
  expect(asked).toHaveLength(1);
});

test("rules about a command that reads still count", async () => {
  const { permissions, asked } = setUp(
    { user: { deny: ["shell-run(cat *)"], ask: ["shell-run(ls *)"] } },
    "once",
  );
  expect((await permissions.command("cat a.ts")).allowed).toBe(false);
  await permissions.command("ls src");
  expect(asked).toHaveLength(1);
});

const git = (folder: string, ...args: string[]) =>
  spawnSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
    encoding: "utf8",
  });

test("git in a repository as git makes it reads without a question", async () => {
  const { permissions, root, asked } = setUp({}, "deny");
  git(root, "init", "-q");
  git(root, "remote", "add", "origin", "https://host/a.git");
  writeFileSync(join(root, "a.ts"), "1");
  git(root, "add", ".");
  git(root, "commit", "-qm", "one");
  for (const command of ["git status", "git diff", "git log -1"])
    expect((await permissions.command(command)).allowed, command).toBe(true);
  expect(asked).toEqual([]);
});

test.each<[string, (root: string, mark: string) => void]>([
  ["a monitor", (root, mark) => git(root, "config", "core.fsmonitor", `touch ${mark}; false`)],
  [
    "a filter",
    (root, mark) => {
      git(root, "config", "filter.x.clean", `touch ${mark}; cat`);
      writeFileSync(join(root, ".gitattributes"), "* filter=x\n");
    },
  ],
  [
    "a section on one line",
    (root, mark) => appendFileSync(join(root, ".git/config"), `[CORE]fsMonitor = "touch ${mark}; false"\n`),
  ],
  [
    "an included file",
    (root, mark) => {
      writeFileSync(join(root, "more"), `[core]\nfsmonitor = touch ${mark}; false\n`);
      git(root, "config", "include.path", "../more");
    },
  ],
  [
    "a hook that reading triggers",
    (root, mark) => {
      mkdirSync(join(root, ".git/hooks"), { recursive: true });
      writeFileSync(join(root, ".git/hooks/post-index-change"), `#!/bin/sh\ntouch ${mark}\n`, {
        mode: 0o755,
      });
    },
  ],
  [
    "the settings of a submodule",
    (root, mark) => {
      const inner = join(root, "inner");
      mkdirSync(inner);
      git(inner, "init", "-q");
      git(inner, "commit", "-q", "--allow-empty", "-m", "one");
      git(root, "add", "inner");
      git(inner, "config", "core.fsmonitor", `touch ${mark}; false`);
    },
  ],
])("T22: git asks where the repository names a program: %s", async (_, plant) => {
  const { permissions, root, folder, asked } = setUp({}, "deny");
  const mark = join(folder, "ran");
  git(root, "init", "-q");
  writeFileSync(join(root, "a.ts"), "1");
  git(root, "add", ".");
  git(root, "commit", "-qm", "one");
  plant(root, mark);
  writeFileSync(join(root, "a.ts"), "2");
  expect((await permissions.command("git status")).allowed).toBe(false);
  expect(asked).toHaveLength(1);
  // The program really runs once somebody says yes.
  git(root, "status");
  expect(existsSync(mark)).toBe(true);
});

test("T22: git asks in a folder that it takes for a repository", async () => {
  const { permissions, root } = setUp({}, "deny");
  git(root, "init", "-q", "--bare", ".");
  git(root, "config", "core.fsmonitor", "touch ran");
  expect((await permissions.command("git status")).allowed).toBe(false);
});
