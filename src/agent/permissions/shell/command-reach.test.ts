import { describe, expect, test } from "vitest";
import { onlyReads, programOf, reachOf, withoutGlobalOptions } from "./command-reach.ts";
import { parseShell } from "./parse-shell.ts";
import { hasOption } from "./programs.ts";
import type { SimpleCommand } from "./read-word.ts";

function only(text: string): SimpleCommand {
  const parsed = parseShell(text);
  if (!parsed.ok || parsed.commands.length !== 1) throw new TypeError(`${text} is not one command`);
  return parsed.commands[0]!;
}

describe("reachOf", () => {
  test.each([
    ["ls -la", "plain"],
    ["/usr/bin/ls -la", "plain"],
    ["./ls -la", "runner"],
    ["/tmp/bin/ls -la", "runner"],
    ["LS -la", "runner"],
    ["cp a b", "plain"],
    ["xxd a", "runner"],
    ["scc src", "runner"],
    ["cloc src", "runner"],
    ["some-new-tool a", "runner"],
    ["some-new-tool --version", "plain"],
    ["some-new-tool --version x", "runner"],
    ["xargs ls", "wrapper"],
    ["/usr/bin/XARGS ls", "wrapper"],
    ["./xargs ls", "wrapper"],
    ["xargs.exe ls", "wrapper"],
    ["cd src", "opaque"],
    ["A=1", "opaque"],
    ["A=1 ls", "plain"],
    ["A=1 xargs ls", "wrapper"],
    ["sh", "opaque"],
    ["sh -s", "opaque"],
    ["sh -i", "opaque"],
    ["sh -l", "opaque"],
    ["sh -", "opaque"],
    ["sh -x -s", "opaque"],
    ["sh --s -i", "opaque"],
    ["sh -s x", "wrapper"],
    ["sh -x", "wrapper"],
    ["sh -x --i", "wrapper"],
    ["sh a-s", "wrapper"],
    ["sh x.sh", "wrapper"],
    ["sh --version", "wrapper"],
    ["python3", "opaque"],
    ["python3 -", "opaque"],
    ["python3 -i", "opaque"],
    ["python3.12", "opaque"],
    ["python3.12.1 -", "opaque"],
    ["python3.12 x.py", "runner"],
    ["python3 -c y", "runner"],
    ["python3 --version", "plain"],
    ["python3 -V", "plain"],
    ["make", "runner"],
    ["make --help", "plain"],
    ["npm ls", "runner"],
    ["tar tf x", "runner"],
    ["find . -name x", "plain"],
    ["find . -executable", "plain"],
    ["find . -exec x", "runner"],
    ["find . --exec x", "runner"],
    ["sort -uo x", "runner"],
    ["date", "plain"],
    ["date --set=now", "runner"],
    ["git", "plain"],
    ["git -P", "plain"],
    ["git status", "plain"],
    ["git st", "runner"],
    ["git -P st", "runner"],
    ["git -C x status", "runner"],
    ["git difftool", "runner"],
    ["git apply", "runner"],
    ["git submodule summary", "plain"],
    ["git config --local --get user.name", "plain"],
    ["git config --system --get user.name", "plain"],
    ["git config --get 1a", "runner"],
    ["git --version", "plain"],
    ["git submodule", "plain"],
    ["git submodule status", "plain"],
    ["git submodule update", "runner"],
    ["git submodule foreach x", "runner"],
    ["git config --get user.name", "plain"],
    ["git config --global --get user.name", "plain"],
    ["git config --get user.name x", "runner"],
    ["git config --get", "runner"],
    ["git config --get --show-origin user.name", "runner"],
    ["git config user.name", "runner"],
    ["git config --get remote.origin.URL", "runner"],
    ["git clone a::b", "runner"],
    ["git clone --reference=a::b c", "runner"],
    ["git clone a:b", "plain"],
    ["git log a::b", "plain"],
    ["git bisect good run", "plain"],
    ["uniq -c x", "plain"],
    ["uniq x y", "runner"],
  ])("%s is %s", (command, kind) => {
    expect(reachOf(only(command)).kind).toBe(kind);
  });

  test("gives the reason", () => {
    const reach = (command: string) => reachOf(only(command));
    expect(reach("sudo ls")).toMatchObject({ reason: "runs the command in its words" });
    expect(reach("make x")).toMatchObject({ reason: "may run other programs or write files" });
    expect(reach("sort -o x")).toMatchObject({ reason: "runs a program or writes a file by its arguments" });
    expect(reach("cd x")).toMatchObject({ reason: "changes what later commands mean" });
    expect(reach("sh")).toEqual({ kind: "opaque", reason: "runs what it reads from its input" });
    expect(reach("A=1")).toEqual({ kind: "opaque", reason: "sets variables for later commands" });
    expect(reach("git -C x log")).toMatchObject({
      reason: "reads another repository or other settings by -C",
    });
    expect(reach("git st")).toMatchObject({ reason: "may know st as an alias or another program" });
    expect(reach("git fetch a::b")).toMatchObject({ reason: "runs the transport of a::b" });
    expect(reach("git config x")).toMatchObject({
      reason: "changes settings that run programs, or shows logins",
    });
    expect(reach("git submodule init")).toMatchObject({
      reason: "fetches and checks out other repositories",
    });
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
    ["./cat x", false],
    ["some-new-tool --version", false],
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
    ["a-b run", "run", false],
    ["a--o", "--output", false],
    ["a b", "**", true],
    ["a -b", "**", false],
    ["a b c", "**", true],
  ])("%s has %s: %s", (args, option, expected) => {
    expect(hasOption(args.split(" "), option)).toBe(expected);
  });

  test("takes long options with one dash as whole words", () => {
    expect(hasOption(["-exec"], "-exec")).toBe(true);
    expect(hasOption(["--exec=x"], "-exec")).toBe(true);
    expect(hasOption(["-executable"], "-exec")).toBe(false);
    expect(hasOption(["-e"], "-exec")).toBe(false);
    expect(hasOption(["exec"], "-exec")).toBe(false);
  });
});
