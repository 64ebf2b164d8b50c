import { describe, expect, test } from "vitest";
import { onlyReads, programOf, reachOf, withoutGlobalOptions } from "./command-reach.ts";
import { parseShell } from "./parse-shell.ts";
import { hasOption, type RuleScope } from "./program-row.ts";
import { PROGRAM_TABLE } from "./program-table.ts";
import type { SimpleCommand } from "./read-word.ts";

function only(text: string): SimpleCommand {
  const parsed = parseShell(text);
  if (!parsed.ok || parsed.commands.length !== 1) throw new TypeError(`${text} is not one command`);
  return parsed.commands[0]!;
}

/** The kind, with the number of arguments that a rule has to name. */
function kindOf(reach: RuleScope): string {
  return reach.kind === "named" ? `named ${reach.depth}` : reach.kind;
}

describe("reachOf", () => {
  test.each([
    ["ls -la", "plain"],
    ["xargs ls", "exact"],
    ["/usr/bin/XARGS ls", "exact"],
    ["xargs.exe ls", "exact"],
    ["cd src", "opaque"],
    ["A=1", "opaque"],
    ["A=1 ls", "plain"],
    ["A=1 xargs ls", "exact"],
    ["sh", "opaque"],
    ["sh -s", "opaque"],
    ["sh -i", "opaque"],
    ["sh -l", "opaque"],
    ["sh -", "opaque"],
    ["sh -x -s", "opaque"],
    ["sh -s x", "exact"],
    ["sh -x", "exact"],
    ["sh x.sh", "exact"],
    ["sh --version", "exact"],
    ["python3", "opaque"],
    ["python3 -", "opaque"],
    ["python3 -i", "opaque"],
    ["python3.12 x.py", "named 1"],
    ["python3.12.1 x.py", "named 1"],
    ["python3 x.py -c y", "named 1"],
    ["python3 -c y", "exact"],
    ["python3 --version", "plain"],
    ["python3 -V", "plain"],
    ["python3 --version x", "exact"],
    ["cargo +nightly test", "exact"],
    ["make", "exact"],
    ["make test", "named 1"],
    ["make test A=1", "exact"],
    ["make test -f x", "exact"],
    ["make --help", "plain"],
    ["npm run x", "named 1"],
    ["npm ls", "plain"],
    ["npm ls --prefix=x", "exact"],
    ["npm config get x", "plain"],
    ["npm config set x", "exact"],
    ["npm config delete x", "named 1"],
    ["uv run pytest", "named 2"],
    ["uv run pytest -p x", "exact"],
    ["uv run python x.py", "named 3"],
    ["uv run python -c x", "exact"],
    ["uv run --with x pytest", "exact"],
    ["uv run", "exact"],
    ["npx eslint src", "named 1"],
    ["npx tsx x.ts", "named 2"],
    ["npx sh", "exact"],
    ["npx git push", "named 1"],
    ["npx git bisect run x", "exact"],
    ["docker exec x id", "named 2"],
    ["kubectl -n a get pods", "plain"],
    ["kubectl -n a --context b get pods", "plain"],
    ["kubectl -n a delete pod x", "named 1"],
    ["systemctl --user status x", "plain"],
    ["systemctl --user start x", "exact"],
    ["tar tf x", "plain"],
    ["tar xf x", "exact"],
    ["tar f xx", "plain"],
    ["tar", "plain"],
    ["star x", "plain"],
    ["tar2 xf", "plain"],
    ["sh a-s", "exact"],
    ["sh --s -i", "opaque"],
    ["sh -x --i", "exact"],
    ["npm a-b", "named 1"],
    ["npm run-s", "named 1"],
    ["python3.x.1 a", "plain"],
    ["npx make test", "named 2"],
    ["npx make", "exact"],
    ["bun run make test", "named 3"],
    ["git", "plain"],
    ["git -P", "plain"],
    ["git status", "plain"],
    ["git st", "named 1"],
    ["git -P st", "named 1"],
    ["git -C x status", "exact"],
    ["git difftool", "exact"],
    ["git apply", "exact"],
    ["git submodule summary", "plain"],
    ["git config --local --get user.name", "plain"],
    ["git config --system --get user.name", "plain"],
    ["git config --get 1a", "exact"],
    ["git --version", "plain"],
    ["git submodule", "plain"],
    ["git submodule status", "plain"],
    ["git submodule update", "named 2"],
    ["git submodule foreach x", "exact"],
    ["git config --get user.name", "plain"],
    ["git config --global --get user.name", "plain"],
    ["git config --get user.name x", "exact"],
    ["git config --get", "exact"],
    ["git config --get --show-origin user.name", "exact"],
    ["git config user.name", "exact"],
    ["git config --get remote.origin.URL", "exact"],
    ["git clone a::b", "exact"],
    ["git clone --reference=a::b c", "exact"],
    ["git clone a:b", "plain"],
    ["git log a::b", "plain"],
    ["git bisect good run", "plain"],
    ["uniq -c x", "plain"],
    ["uniq x y", "exact"],
    ["hostname", "plain"],
    ["hostname -f", "plain"],
    ["hostname x", "exact"],
  ])("%s is %s", (command, kind) => {
    expect(kindOf(reachOf(only(command)))).toBe(kind);
  });

  test("gives the reason of the table", () => {
    const reasons = new Set(PROGRAM_TABLE.map(({ reason }) => reason));
    for (const command of ["sudo ls", "make x", "cd x", "npm exec x", "uv run x", "sort -o x"]) {
      const reach = reachOf(only(command));
      expect([command, reach.kind !== "plain" && reasons.has(reach.reason)]).toEqual([command, true]);
    }
    expect(reachOf(only("sh"))).toEqual({ kind: "opaque", reason: "runs what it reads from its input" });
    expect(reachOf(only("A=1"))).toEqual({ kind: "opaque", reason: "sets variables for later commands" });
    expect(reachOf(only("npx sh -c x"))).toMatchObject({
      reason: "runs the package that its first argument names",
    });
    expect(reachOf(only("git -C x log"))).toMatchObject({
      reason: "reads another repository or other settings by -C",
    });
    expect(reachOf(only("git st"))).toMatchObject({ reason: "may know st as an alias or another program" });
    expect(reachOf(only("git fetch a::b"))).toMatchObject({ reason: "runs the transport of a::b" });
    expect(reachOf(only("git config x"))).toMatchObject({
      reason: "changes settings that run programs, or shows logins",
    });
    expect(reachOf(only("git submodule init"))).toMatchObject({
      reason: "fetches and checks out other repositories",
    });
  });

  test("knows every program with a reason, and none twice in the same row", () => {
    for (const { names, reason } of PROGRAM_TABLE) {
      const each = names.trim().split(/\s+/);
      expect(new Set(each).size).toBe(each.length);
      expect(reason).toMatch(/^[a-z].*[^.]$/);
    }
  });
});

describe("onlyReads", () => {
  test.each([
    ["cat x", true],
    ["git diff x", true],
    ["git -P diff x", true],
    ["git checkout x", false],
    ["git st x", false],
    ["cp x y", false],
    ["sort x", true],
    ["sort -o x", false],
    ["A=1", false],
    ["xargs cat", false],
  ])("%s: %s", (command, expected) => {
    expect(onlyReads(only(command))).toBe(expected);
  });
});

describe("withoutGlobalOptions", () => {
  test.each([
    ["A=1 git -P --no-optional-locks log -P", "A=1 git log -P"],
    ["git -P", "git"],
    ["git -C x log", "git -C x log"],
    ["ls -P x", "ls -P x"],
  ])("%s is %s", (command, expected) => {
    const words = withoutGlobalOptions(only(command));
    expect(words.map(({ text }) => text).join(" ")).toBe(expected);
  });
});

describe("programOf", () => {
  test.each([
    ["/usr/bin/Git log", "git"],
    ["A=1 git.EXE log", "git"],
    ["git.cmd", "git"],
    ["git.bat", "git"],
    ["git.exec", "git.exec"],
    ["A=1", undefined],
  ])("%s is %s", (command, expected) => {
    expect(programOf(only(command))).toBe(expected);
  });
});

describe("hasOption", () => {
  test.each<[string, string, boolean]>([
    ["--output", "--output", true],
    ["--output=x", "--output", true],
    ["--outp=x", "--output", true],
    ["--o", "--output", true],
    ["--", "--output", false],
    ["-", "-o", false],
    ["--outputs", "--output", false],
    ["--other", "--output", false],
    ["-output", "--output", false],
    ["-o", "-o", true],
    ["-ox", "-o", true],
    ["-uo", "-o", true],
    ["-u", "-o", false],
    ["--o", "-o", false],
    ["-1o", "-o", false],
    ["o", "-o", false],
    ["run", "run", true],
    ["-q run", "run", true],
    ["+x run", "run", true],
    ["x run", "run", false],
    ["- run", "run", false],
    ["pkg set", "pkg.set", true],
    ["pkg -q set", "pkg.set", true],
    ["pkg get", "pkg.set", false],
    ["pkg", "pkg.set", false],
    ["a-b run", "run", false],
    ["AB=1", "*=", true],
    ["a--o", "--output", false],
    ["x", "*", true],
    ["a b", "**", true],
    ["a -b", "**", false],
    ["a b c", "**", true],
    ["A=1", "*=", true],
    ["=1", "*=", false],
    ["-A=1", "*=", false],
    ["A", "*=", false],
    ["x A=", "*=", true],
  ])("%s has %s: %s", (args, option, expected) => {
    expect(hasOption(args.split(" "), option)).toBe(expected);
  });

  test("takes long options with one dash as whole words", () => {
    expect(hasOption(["-exec"], "-exec", true)).toBe(true);
    expect(hasOption(["--exec=x"], "-exec", true)).toBe(true);
    expect(hasOption(["-executable"], "-exec", true)).toBe(false);
    expect(hasOption(["-e"], "-exec", true)).toBe(false);
    expect(hasOption(["exec"], "-exec", true)).toBe(false);
    expect(hasOption([], "*")).toBe(false);
  });
});
