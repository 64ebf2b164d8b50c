import { describe, expect, test } from "vitest";
import { decide } from "./decide.ts";
import { type PermissionDecision, type PermissionRules, readRules } from "./permission.ts";
import { isInside } from "./sensitive-path.ts";
import { toFileRequest, toShellRequest } from "./to-request.ts";

const place = { root: "/nowhere/project", home: "/home/me" };

async function decideOn(
  command: string,
  user: PermissionRules,
  project: PermissionRules = {},
): Promise<PermissionDecision> {
  const rules = [readRules("project", project), readRules("user", user)];
  return decide(await toShellRequest(command, place.root), rules, place);
}

describe("a command", () => {
  test("that is not understood is denied by a rule for every command, and asks otherwise", async () => {
    expect(await decideOn("if a", { deny: ["shell-run(*)"] })).toEqual({
      verdict: "deny",
      reason: "The user's rules deny: shell-run(*)",
    });
    for (const pattern of [" * ", "**"])
      expect(await decideOn("if a", { deny: [`shell-run(${pattern})`] })).toMatchObject({ verdict: "deny" });
    expect(await decideOn("if a", { deny: ["shell-run(if *)", "fs-read(*)"] })).toEqual({
      verdict: "ask",
      reason: "The command is not understood: if is not followed.",
    });
  });

  test("asks where it names a path that a file rule denies or asks for", async () => {
    const allow = ["shell-run(cat *)"];
    for (const list of ["deny", "ask"] as const) {
      const decided = await decideOn("cat a private/b", { allow, [list]: ["fs-write(PRIVATE/**)"] });
      expect(decided).toEqual({
        verdict: "ask",
        reason: `It names a path. The user's rules ${list}: fs-write(PRIVATE/**)`,
      });
      expect(await decideOn("cat a b", { allow, [list]: ["fs-write(private/**)"] })).toMatchObject({
        verdict: "allow",
      });
    }
  });

  test("is decided by the strictest of its parts, with that reason", async () => {
    const user = { allow: ["shell-run(ls *)"], deny: ["shell-run(rm *)", "fs-write(locked/**)"] };
    expect(await decideOn("ls; make; rm x", user)).toMatchObject({ verdict: "deny" });
    expect(await decideOn("ls; make", user)).toEqual({
      verdict: "ask",
      reason:
        "No rule allows make. make may run other programs or write files: only a rule with all its words or with ** at its end allows it.",
    });
    expect(await decideOn("ls > locked/x", user)).toMatchObject({ verdict: "deny" });
    expect(await decideOn("ls > $X", user)).toEqual({
      verdict: "ask",
      reason: "A redirection's target expands.",
    });
    expect(await decideOn("ls", user, { deny: ["shell-run(ls)"] })).toMatchObject({ verdict: "deny" });
    expect(await decideOn("> /dev/null", user)).toEqual({ verdict: "ask", reason: "There is no command." });
  });

  test("may leave the project only by the words of a rule itself", async () => {
    const user = { allow: ["shell-run(cat *)", "shell-run(cat /etc/hostname)", "shell-run(/opt/tool **)"] };
    expect(await decideOn("cat /etc/hosts", user)).toMatchObject({ verdict: "ask" });
    expect(await decideOn("cat /etc/hostname", user)).toMatchObject({ verdict: "allow" });
    expect(await decideOn("/opt/tool x", user)).toMatchObject({ verdict: "allow" });
    expect(await decideOn("/opt/tool ../x", user)).toMatchObject({ verdict: "ask" });
  });
});

describe("a path", () => {
  test("outside of the project is denied by a project's rule, and never opened by one", async () => {
    const request = await toFileRequest("fs-read", "/elsewhere/x", place.root);
    const by = (project: PermissionRules) => decide(request, [readRules("project", project)], place).verdict;
    expect(by({ deny: ["fs-read(/elsewhere/**)"] })).toBe("deny");
    expect(by({ allow: ["fs-read(/elsewhere/**)"] })).toBe("ask");
  });

  test("is inside of its folder and of the root", () => {
    expect(isInside("/a/b", "/a")).toBe(true);
    expect(isInside("/a", "/a")).toBe(true);
    expect(isInside("/ab", "/a")).toBe(false);
    expect(isInside("/ab", "/")).toBe(true);
    expect(isInside("ab", "/")).toBe(false);
  });
});
