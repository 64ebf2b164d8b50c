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
  "find . -delete",
  "ls > out",
  "PAGER=x git log",
  "cat a.ts | sh",
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
