import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setUpPermissions as setUp } from "../../../test/set-up-permissions.ts";
import { createPermissions, type PermissionAnswer } from "./permissions.ts";

test.each([
  ["once", { allowed: true, reason: "The person allowed it." }],
  ["session", { allowed: true, reason: "The person allowed it." }],
  ["always", { allowed: true, reason: "The person allowed it." }],
  ["deny", { allowed: false, reason: "The person refused." }],
  [
    { deny: "use b" },
    { allowed: false, reason: "The person refused, and says: use b", next: "Do what the person says." },
  ],
  [undefined, { allowed: false, reason: "The person refused." }],
  ["yes", { allowed: false, reason: "The person refused." }],
] as [PermissionAnswer, object][])(
  "the answer %j becomes an outcome with its reason",
  async (answer, outcome) => {
    const { permissions } = setUp({ ask: async () => answer });
    expect(await permissions.command("make")).toEqual(outcome);
  },
);

test("the second time of a session says so", async () => {
  const { permissions } = setUp({}, "session");
  await permissions.command("make");
  expect(await permissions.command("make")).toEqual({
    allowed: true,
    reason: "It was allowed for this session.",
  });
});

test("T22: a rule that cannot be stored counts for this process, and the person is told", async () => {
  const { permissions } = setUp({
    ask: async () => "always",
    store: { allow: () => Promise.reject(new Error("disk full")) },
  });
  expect(await permissions.command("make")).toEqual({
    allowed: true,
    reason: "The person allowed it; the rule is not kept: disk full",
  });
});

test("T22: always without a rule lasts for the session, with one it stores that rule alone", async () => {
  const without = setUp({}, "always");
  await without.permissions.command("echo $(id)");
  expect((await without.permissions.command("echo $(id)")).reason).toBe("It was allowed for this session.");
  expect(without.stored).toEqual([]);
  expect(without.asked[0]!.reason).toContain("“Always” is not offered: no rule covers all of the command.");
  const { permissions, stored, asked } = setUp({}, "always");
  // Reading needs no rule.
  await permissions.command("ls && make && make; git status");
  expect(stored).toEqual(["shell-run(make)"]);
  expect((await permissions.command("make")).reason).not.toBe("It was allowed for this session.");
  expect(asked).toHaveLength(1);
});

test("a question that fails or is cancelled says why", async () => {
  const failing = setUp({ ask: () => Promise.reject(new TypeError("gone")) });
  expect((await failing.permissions.command("make")).reason).toBe("The question was not answered: gone");
  const controller = new AbortController();
  const late = setUp({
    ask: async () => {
      controller.abort();
      return "once";
    },
  });
  expect(await late.permissions.command("make", controller.signal)).toEqual({
    allowed: false,
    reason: "The call was cancelled.",
  });
  const { permissions, asked } = setUp({}, "once");
  expect((await permissions.command("make", controller.signal)).allowed).toBe(false);
  expect(asked).toEqual([]);
});

test("a question about a file shows the path as given only if links lead elsewhere", async () => {
  const { permissions, asked, root, folder } = setUp({}, "deny");
  mkdirSync(join(folder, "far"));
  symlinkSync("../far", join(root, "lin\u200bk"));
  await permissions.file("fs-write", "lin\u200bk/a");
  await permissions.file("fs-write", join(root, "a"));
  expect(asked.map(({ resource, given }) => [resource, given])).toEqual([
    [join(folder, "far/a"), "lin‹U+200B›k/a"],
    [join(root, "a"), undefined],
  ]);
  expect(asked[1]).not.toHaveProperty("given");
});

test("a question shows the change, with unseen characters by name and tabs as they are", async () => {
  const { permissions, asked } = setUp({}, "deny");
  const preview = async (path: string) => `+ ${path.split("/").at(-1)}\ta\u202eb`;
  await permissions.file("fs-write", "x", { preview });
  const broken = () => Promise.reject(new Error("too large"));
  await permissions.file("fs-write", "x", { preview: broken });
  await permissions.file("fs-write", "x");
  expect(asked.map(({ diff }) => diff)).toEqual(["+ x\ta‹U+202E›b", "Nothing to show: too large", undefined]);
  expect(asked[2]).not.toHaveProperty("diff");
});

test("a question names the place of its rules if there are any", async () => {
  const store = { place: "~/set\u200btings", allow: async () => {} };
  const { permissions, asked } = setUp({ store }, "deny");
  await permissions.command("make");
  await permissions.command("echo $(id)");
  expect(asked.map(({ keptIn }) => keptIn)).toEqual(["~/set‹U+200B›tings", undefined]);
  const nowhere = setUp({}, "deny");
  await nowhere.permissions.command("make");
  expect(nowhere.asked[0]).not.toHaveProperty("keptIn");
  const { permissions: unstored, asked: others } = setUp({ store: undefined as never }, "always");
  expect((await unstored.command("make")).allowed).toBe(true);
  expect(others[0]).toMatchObject({ always: [] });
});

test("T22: a rule for a file whose name begins like a home or a folder names that file", async () => {
  const { permissions, root, stored, asked } = setUp({}, "always");
  await permissions.file("fs-write", join(root, "~/a"));
  expect(stored).toEqual([`fs-write(${join(root, "~/a")})`]);
  await permissions.file("fs-write", join(root, "~/a"));
  expect(asked).toHaveLength(1);
  await permissions.file("fs-write", join(root, "b~/a"));
  expect(stored[1]).toBe("fs-write(b~/a)");
});

test("T22: always is not offered if one of several rules hides a character", async () => {
  const { permissions, asked } = setUp({}, "deny");
  await permissions.command("make && make \u200b");
  await permissions.command("make && make b");
  expect(asked.map(({ always }) => always)).toEqual([[], ["shell-run(make)", "shell-run(make b)"]]);
});

test("T22: an answer for the session is bound to the file that a link leads to", async () => {
  const { permissions, asked, root, folder } = setUp({}, "session");
  for (const name of ["one", "two"]) mkdirSync(join(folder, name));
  symlinkSync("../one", join(root, "l1"));
  symlinkSync("../two", join(root, "l2"));
  await permissions.command("make > l1/x");
  await permissions.command("make > l1/x");
  expect(asked).toHaveLength(1);
  await permissions.command("make > l2/x");
  expect(asked).toHaveLength(2);
});

test("files beside a permitted one are read if they are elsewhere and hold no secrets", () => {
  const { permissions, root, home } = setUp({ user: { deny: ["fs-read(/opt/private/**)"] } });
  writeFileSync(join(root, ".env"), "");
  expect(permissions.mayRead(join(root, "src/a.ts"))).toBe(true);
  expect(permissions.mayRead(join(root, ".env"))).toBe(false);
  expect(permissions.mayRead("/opt/shared/a.ts")).toBe(true);
  expect(permissions.mayRead("/opt/private/a.ts")).toBe(false);
  expect(permissions.mayRead("/opt/shared/.env")).toBe(false);
  expect(permissions.mayRead(join(home, ".ssh/id_ed25519"))).toBe(false);
});

test("rules with a tilde mean the home of the person by default", async () => {
  const { root } = setUp();
  const permissions = createPermissions({ root, user: { allow: ["fs-write(~/x-keyhole-test/**)"] } });
  expect((await permissions.file("fs-write", join(homedir(), "x-keyhole-test/a"))).allowed).toBe(true);
});
