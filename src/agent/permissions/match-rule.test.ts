import { describe, expect, test } from "vitest";
import { concernsCommand, coversCommand, matchesPath, namesOnePath, toCommandRule } from "./match-rule.ts";
import type { PermissionRule } from "./permission.ts";
import { parseShell } from "./shell/parse-shell.ts";
import type { SimpleCommand } from "./shell/read-word.ts";

const shellRule = (pattern: string): PermissionRule => ({ text: "", scope: "shell-run", pattern });
const fileRule = (pattern: string): PermissionRule => ({ text: "", scope: "fs-read", pattern });

function only(text: string): SimpleCommand {
  const parsed = parseShell(text);
  if (!parsed.ok || parsed.commands.length !== 1) throw new TypeError(`${text} is not one command`);
  return parsed.commands[0]!;
}

describe("matchesPath", () => {
  test.each<[string, string, boolean]>([
    ["src/**", "/p/src/a/b", true],
    ["src/**", "/p/src", true],
    ["src/**", "/p/srcx", false],
    ["./src/*", "/p/src/a", true],
    ["a./src", "/p/a./src", true],
    ["~/x", "/home/me/x", true],
    ["~/x", "/p/~/x", false],
    ["a~/x", "/p/a~/x", true],
    ["/etc/*", "/etc/x", true],
    ["etc/*", "/etc/x", false],
    ["SRC/*", "/p/src/a", false],
  ])("%s on %s: %s", (pattern, path, expected) => {
    expect(matchesPath(fileRule(pattern), path, { root: "/p", home: "/home/me" }, false)).toBe(expected);
  });

  test("folds case and composes accents only for strict rules", () => {
    const place = { root: "/P", home: "/h" };
    expect(matchesPath(fileRule("SRC/*"), "/p/src/A", place, true)).toBe(true);
    expect(matchesPath(fileRule("SRC/*"), "/p/src/A", place, false)).toBe(false);
    expect(matchesPath(fileRule("é"), "/p/e\u0301", place, true)).toBe(true);
  });

  test("takes the project's folder literally, also the root of the system", () => {
    expect(matchesPath(fileRule("a"), "/a", { root: "/", home: "/" }, false)).toBe(true);
    expect(matchesPath(fileRule("~/a"), "/a", { root: "/p", home: "/" }, false)).toBe(true);
    expect(matchesPath(fileRule("a"), "/x/a", { root: "/*", home: "/h" }, false)).toBe(false);
    expect(matchesPath(fileRule("a"), "/*/a", { root: "/*", home: "/h" }, false)).toBe(true);
  });
});

describe("namesOnePath", () => {
  test.each<[string, boolean]>([
    ["package.json", true],
    ["*.json", false],
    ["a?", false],
    ["a\\*b", true],
    ["a\\\\*", false],
    ["src/**", false],
  ])("%s: %s", (pattern, expected) => {
    expect(namesOnePath(fileRule(pattern))).toBe(expected);
  });
});

describe("coversCommand", () => {
  test.each<[string, string, "exactly" | "wide" | undefined]>([
    ["ls", "ls", "exactly"],
    ["  ls   -l ", "ls -l", "exactly"],
    ["ls", "ls x", undefined],
    ["ls x", "ls", undefined],
    ["ls *", "ls", "wide"],
    ["ls *", "ls x y", "wide"],
    ["ls '*'", "ls x", undefined],
    ["ls '*'", "ls '*'", "exactly"],
    ["ls \\*", "ls '*'", "exactly"],
    ["ls \\* *", "ls '*' x", "wide"],
    ["ls * x", "ls a x", undefined],
    ["ls * x", "ls '*' x", "exactly"],
    ["ls a*", "ls ab", undefined],
    ["ls 'a b'", "ls 'a b'", "exactly"],
    ["ls a' 'b", "ls 'a b'", "exactly"],
    ["ls a\\ b", "ls 'a b'", "exactly"],
    ["ls ''", "ls ''", "exactly"],
    ["ls", "/bin/ls", undefined],
    ["LS", "ls", undefined],
    ["A=1 ls *", "A=1 ls x", "wide"],
    ["A=1 *", "A=1 ls x", undefined],
    ["ls *", "A=1 ls", undefined],
    ["git log *", "git -P log x", "wide"],
    ["git log", "git -P log", "exactly"],
    ["git -P log", "git -P log", "exactly"],
    ["git -P *", "git -P log", "wide"],
    ["npm *", "npm run x", undefined],
    ["npm run *", "npm run x", undefined],
    ["npm **", "npm run x", "wide"],
    ["npm run **", "npm run x", "wide"],
    ["npm run '**'", "npm run x", undefined],
    ["npm run ** x", "npm run x", undefined],
    ["A=1 **", "A=1 npm run x", undefined],
    ["A=1 npm run **", "A=1 npm run x", "wide"],
    ["uv run a **", "uv run a b", "wide"],
    ["uv run b **", "uv run a b", undefined],
    ["ls **", "ls x", "wide"],
    ["find **", "find . -delete", "wide"],
    ["xargs *", "xargs ls", undefined],
    ["xargs **", "xargs ls", undefined],
    ["sh **", "sh -c x", undefined],
    ["cd **", "cd x", undefined],
    ["python3 **", "python3 -", undefined],
    ["./ls *", "./ls x", undefined],
    ["./ls **", "./ls x", "wide"],
    ["xargs ls", "xargs ls", "exactly"],
    ["cd x", "cd x", undefined],
    ["cd *", "cd x", undefined],
    ["sh *", "sh -s", undefined],
    ["echo $X", "echo $X", undefined],
  ])("%s on %s: %s", (pattern, command, expected) => {
    expect(coversCommand(shellRule(pattern), only(command))).toBe(expected);
  });
});

describe("concernsCommand", () => {
  test.each<[string, string, boolean]>([
    ["*", "anything at all", true],
    ["rm *", "rm x", true],
    ["rm", "rm", true],
    ["rm", "rm x", false],
    ["RM *", "rm x", true],
    ["rm *", "/bin/RM x", true],
    ["rm *", "echo rm x", false],
    ["rm *", "sudo rm x", true],
    ["rm *", "sudo -u x rm x", true],
    ["rm **", "sudo rm x", true],
    ["rm *", "any-new-runner rm x", true],
    ["rm *", "touch rm", false],
    ["rm *", "sh -c 'ls; rm x'", true],
    ["rm *", "sh -c 'ls&&rm'", true],
    ["rm", "sh -c rm", true],
    ["rm *", "echo 'a; rm x'", false],
    ["rm *", "sh -c 'if a'", false],
    ["git push *", "git push", true],
    ["git push *", "git log push", false],
    ["git push *", "git -P push", true],
    ["git push *", "git -C push log", true],
    ["git push *", "git -c a=push log", false],
    ["git push *", "git --x=y log push", false],
    ["git push *", "git + push", false],
    ["git push *", "git - push", false],
    ["git push", "git -P push", true],
    ["git push", "git -P push origin", false],
    ["git push --force *", "git push origin --force", true],
    ["git push --force *", "git push origin --force=x", true],
    ["git push --force *", "git push origin --forced", false],
    ["git push --force", "git --force push", true],
    ["git push --force", "git push --force origin", false],
    ["npm run deploy *", "npm run -s deploy x", true],
    ["npm run deploy *", "npm -s run -w x deploy", true],
    ["npm run deploy *", "npm deploy run", false],
    ["npm run deploy *", "npm run", false],
    ["cargo publish *", "cargo +nightly publish", true],
    ["rm 'a b' *", "rm 'a b' c", true],
  ])("%s on %s: %s", (pattern, command, expected) => {
    expect(concernsCommand(shellRule(pattern), only(command))).toBe(expected);
  });

  test("needs no long time for many options", () => {
    const options = Array.from({ length: 400 }, () => "-x").join(" ");
    expect(concernsCommand(shellRule("git a b c d *"), only(`git ${options} a ${options} b c d`))).toBe(true);
    expect(concernsCommand(shellRule("git a b c d *"), only(`git ${options} a ${options} b c e`))).toBe(
      false,
    );
  });
});

describe("toCommandRule", () => {
  test.each([
    ["ls -l a/b.c", "shell-run(ls -l a/b.c)"],
    ["ls 'a b' \"it's\" '*' ''", "shell-run(ls 'a b' 'it'\\''s' '*' '')"],
    ["A=1 ls a@b%c+d:e,f_g", "shell-run(A=1 ls a@b%c+d:e,f_g)"],
    ["ls 'a;'", "shell-run(ls 'a;')"],
  ])("%s becomes %s, which covers it", (command, rule) => {
    const { words } = only(command);
    expect(toCommandRule(words)).toBe(rule);
    expect(coversCommand(shellRule(rule.slice("shell-run(".length, -1)), only(command))).toBe("exactly");
  });
});
