import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { setUpPermissions as setUp } from "../../../test/set-up-permissions.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import type { PermissionMode } from "./permission.ts";
import { createPermissions } from "./permissions.ts";

describe("files", () => {
  test("reading inside the project is allowed; all else is asked", async () => {
    const { permissions, asked } = setUp({}, "deny");
    expect((await permissions.file("fs-read", "src/a.ts")).allowed).toBe(true);
    expect(asked).toEqual([]);
    expect((await permissions.file("fs-write", "src/a.ts")).allowed).toBe(false);
    expect((await permissions.file("fs-delete", "src/a.ts")).allowed).toBe(false);
    expect((await permissions.file("fs-read", "../other")).allowed).toBe(false);
    expect((await permissions.file("fs-read", "/etc/hostname")).allowed).toBe(false);
    expect(asked.map(({ action }) => action)).toEqual([
      "write file",
      "delete file",
      "read file",
      "read file",
    ]);
  });

  verifies(["permissions:headless", "T22"], "without anybody to ask, every question is a no", async () => {
    const { permissions } = setUp({ user: { allow: ["fs-write(src/**)"] } });
    expect((await permissions.file("fs-write", "src/a.ts")).allowed).toBe(true);
    expect((await permissions.file("fs-write", "a.ts")).reason).toContain("Nobody is there to ask.");
    expect((await permissions.command("make")).allowed).toBe(false);
  });

  test("links are followed before anything is decided", async () => {
    const { permissions, root, folder } = setUp({ project: { allow: ["fs-write(src/**)"] } });
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync(join(folder, "elsewhere"), join(root, "src/out"));
    symlinkSync("../../elsewhere/new", join(root, "src/new"));
    symlinkSync("loop-b", join(root, "loop-a"));
    symlinkSync("loop-a", join(root, "loop-b"));
    expect((await permissions.file("fs-write", "src/out/x")).allowed).toBe(false);
    expect((await permissions.file("fs-write", "src/new")).allowed).toBe(false);
    expect((await permissions.file("fs-write", "src/out/../project/src/x")).path).toBe(join(root, "src/x"));
    await expect(permissions.file("fs-read", "loop-a")).rejects.toMatchObject({ code: "INVALID_INPUT" });
    // A link is deleted itself.
    expect((await permissions.file("fs-delete", "src/new")).path).toBe(join(root, "src/new"));
  });

  test("the strictest rule decides, whoever wrote it", async () => {
    const { permissions } = setUp({
      project: { allow: ["fs-write(**)", "fs-read(/etc/**)"], deny: ["fs-read(private/**)"] },
      user: { deny: ["fs-write(locked/**)"], ask: ["fs-write(src/**)"] },
    });
    expect((await permissions.file("fs-write", "a")).allowed).toBe(true);
    expect((await permissions.file("fs-write", "locked/a")).reason).toBe(
      "The user's rules deny: fs-write(locked/**)",
    );
    expect((await permissions.file("fs-write", "LOCKED/a")).allowed).toBe(false);
    expect((await permissions.file("fs-write", "src/a")).allowed).toBe(false);
    expect((await permissions.file("fs-read", "private/a")).allowed).toBe(false);
    // A project cannot open what lies outside of it.
    expect((await permissions.file("fs-read", "/etc/hostname")).allowed).toBe(false);
  });
});

describe("questions", () => {
  verifies(
    "permissions:exact",
    "a question shows all of what will run, unseen characters by name",
    async () => {
      const { permissions, asked } = setUp({}, "once");
      const command = `echo \u202e${"long ".repeat(5_000)}\u200b\u001b[2K\ttab\nrm -rf x`;
      await permissions.command(command);
      const shown = asked[0]?.resource ?? "";
      expect(shown).toContain("‹U+202E›");
      expect(shown).toContain("‹U+200B›‹U+001B›[2K‹U+0009›tab\nrm -rf x");
      expect(shown.length).toBeGreaterThan(command.length);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
      expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/);
    },
  );

  test("leave no invisible character unnamed", async () => {
    const { permissions, asked } = setUp({}, "deny");
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1 }), async (text) => {
        asked.length = 0;
        await permissions.command(`make ${text}`);
        expect(asked[0]?.resource).not.toMatch(/[^\P{C}\n]|\p{Default_Ignorable_Code_Point}|[^\P{Z} ]/u);
      }),
    );
  });

  test("say why a program needs more than a rule for all its words", async () => {
    const { permissions, asked } = setUp({ user: { allow: ["shell-run(xargs *)"] } }, "deny");
    await permissions.command("xargs ls");
    expect(asked[0]?.reason).toBe(
      "No rule allows xargs ls. xargs runs the command in its words: only a rule with all its words allows it.",
    );
    await permissions.command(`cp ${"a".repeat(9_000)} ${"b/".repeat(400)}`);
    expect(asked[1]?.reason.length).toBeGreaterThan(9_800);
  });

  test("once is once, session is for the very same", async () => {
    const once = setUp({}, "once");
    await once.permissions.command("make a");
    await once.permissions.command("make a");
    expect(once.asked).toHaveLength(2);

    const session = setUp({}, "session");
    for (const command of ["make a", "make a", "make a b", "make a;b", "make a"]) {
      expect((await session.permissions.command(command)).allowed).toBe(true);
    }
    expect(session.asked.map(({ resource }) => resource)).toEqual(["make a", "make a b", "make a;b"]);
    expect(session.stored).toEqual([]);
    await session.permissions.file("fs-read", ".env");
    await session.permissions.file("fs-read", ".env");
    await session.permissions.file("fs-write", ".env");
    expect(session.asked).toHaveLength(5);
  });

  verifies("permissions:always", "always writes what was shown and allows nothing else", async () => {
    const { permissions, asked, stored } = setUp({}, "always");
    await permissions.command("make 'a b' && npm run x > log.txt");
    expect(stored).toEqual(["shell-run(make 'a b')", "shell-run(npm run x)", "fs-write(log.txt)"]);
    expect(asked[0]?.always).toEqual(stored);
    await permissions.command("npm run x");
    await permissions.command("make 'a b' > log.txt");
    expect(asked).toHaveLength(1);
    for (const other of [
      "npm run x y",
      "npm run",
      "make a b",
      "make 'a b' > log.txt2",
      "make '*'",
      "make x",
    ]) {
      const before = asked.length;
      await permissions.command(other);
      expect([other, asked.length]).toEqual([other, before + 1]);
    }
    await permissions.file("fs-write", "src/[a]*.ts");
    expect(stored.at(-1)).toBe("fs-write(src/\\[a\\]\\*.ts)");
    const before = asked.length;
    await permissions.file("fs-write", "src/[a]*.ts");
    expect(asked).toHaveLength(before);
    await permissions.file("fs-write", "src/[a]b.ts");
    expect(asked).toHaveLength(before + 1);
  });

  test("always is not offered where no rule could allow it", async () => {
    const { permissions, asked, stored } = setUp({ user: { ask: ["shell-run(make *)"] } }, "always");
    const commands = [
      "echo $(id)",
      "cd x && ls",
      "cat .env",
      "make x",
      "make <<E\nx\nE",
      "if",
      "sh",
      "make \u200b",
    ];
    for (const command of commands) await permissions.command(command);
    await permissions.file("fs-read", ".env");
    await permissions.file("fs-write", "a\nb");
    expect(asked.map(({ always }) => always)).toEqual(Array(10).fill([]));
    expect(stored).toEqual([]);
  });

  test("come one at a time, and one answer settles the others that are the same", async () => {
    let open = 0;
    let most = 0;
    let count = 0;
    const { permissions } = setUp({
      ask: async () => {
        count += 1;
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return "session";
      },
    });
    const commands = ["make a", "make b", "make a", "make a"];
    const outcomes = await Promise.all(commands.map((command) => permissions.command(command)));
    expect(outcomes.every(({ allowed }) => allowed)).toBe(true);
    expect([most, count]).toEqual([1, 2]);
  });

  test("an answer that fails or comes too late denies", async () => {
    const failing = setUp({ ask: () => Promise.reject(new TypeError("gone")) });
    expect((await failing.permissions.command("make")).allowed).toBe(false);
    const controller = new AbortController();
    const late = setUp({
      ask: async () => {
        controller.abort();
        return "always";
      },
    });
    expect((await late.permissions.command("make", controller.signal)).allowed).toBe(false);
    expect(late.stored).toEqual([]);
  });
});

describe("rules", () => {
  test("that cannot be read are a problem", () => {
    const wrong = [
      { allow: ["fs-writ(x)"] },
      { allow: ["shell-run"] },
      { allow: ["shell-run(*)"] },
      { allow: ["shell-run( * )"] },
      { allow: ["shell-run(**)"] },
      { allow: ["shell-run(ls 'open)"] },
      { deny: ["shell-run(rm \\)"] },
      { deny: ["shell-run(rm 'a' 'b)"] },
      { ask: ["fs-read( )"] },
      { ask: ["fs-read(x"] },
      { alow: [] },
    ];
    for (const user of wrong) {
      expect(() => setUp({ user: user as never })).toThrow(
        expect.objectContaining({ code: "PERMISSIONS_INVALID" }),
      );
    }
  });
});

test("modes: plan only reads, accept-edits changes files of the project and nothing else", async () => {
  const root = temporaryFolder();
  let mode: PermissionMode = "ask";
  const asked: string[] = [];
  const permissions = createPermissions({
    root,
    user: { allow: ["shell-run(ls *)", "shell-run(npm test)"], ask: ["fs-write(kept/**)"] },
    mode: () => mode,
    ask: async ({ resource }) => {
      asked.push(resource);
      return "deny";
    },
  });
  const may = async () => ({
    write: (await permissions.file("fs-write", "a.ts")).allowed,
    build: (await permissions.file("fs-write", "package.json")).allowed,
    kept: (await permissions.file("fs-write", "kept/a.ts")).allowed,
    outside: (await permissions.file("fs-write", "/tmp/other.ts")).allowed,
    remove: (await permissions.file("fs-delete", "a.ts")).allowed,
    read: (await permissions.file("fs-read", "a.ts")).allowed,
    list: (await permissions.command("ls -l")).allowed,
    test: (await permissions.command("npm test")).allowed,
  });
  const nothing = { write: false, build: false, kept: false, outside: false, remove: false };
  expect(await may()).toEqual({ ...nothing, read: true, list: true, test: true });
  mode = "accept-edits";
  expect(await may()).toEqual({ ...nothing, write: true, read: true, list: true, test: true });
  mode = "plan";
  const before = asked.length;
  expect(await may()).toEqual({ ...nothing, read: true, list: true, test: false });
  expect(asked).toHaveLength(before);
  expect((await permissions.file("fs-write", "a.ts")).reason).toContain("plan mode");
});
