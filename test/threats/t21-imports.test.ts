// Trust covers the code that a folder's code reaches by name: `#imports`, its own package's name, linked packages.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { folderContents } from "../../src/program/open/folder-contents.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { listedHash, openProgram } from "./program.ts";

type Files = Readonly<Record<string, unknown>>;

function folderOf(files: Files): string {
  const folder = temporaryFolder();
  writeIn(folder, files);
  return folder;
}

function writeIn(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, typeof content === "string" ? content : JSON.stringify(content));
  }
}

const config = (...lines: string[]) => ({
  "keyhole.config.mjs": [...lines, "export const domains = [];"].join("\n"),
});

/** Files of a folder, and the one that decides what runs although the config names it by no relative path. */
const HIDDEN: readonly [string, Files, string][] = [
  [
    "a name",
    { ...config('import "#x";'), "package.json": { imports: { "#x": "./src/x.mjs" } } },
    "src/x.mjs",
  ],
  [
    "conditions, each of them",
    {
      ...config('import "#x";'),
      "package.json": {
        imports: { "#x": { node: { import: "./a.mjs", require: "./b.cjs" }, default: "./c.mjs" } },
      },
    },
    "b.cjs",
  ],
  [
    "a list of targets",
    { ...config('import "#x";'), "package.json": { imports: { "#x": ["./gone.mjs", "./later.mjs"] } } },
    "later.mjs",
  ],
  [
    "a pattern",
    { ...config('import "#lib/deep/x.mjs";'), "package.json": { imports: { "#lib/*": "./src/*" } } },
    "src/deep/x.mjs",
  ],
  [
    "a pattern with an ending",
    {
      ...config('import "#lib/x";'),
      "package.json": { imports: { "#lib/*": { default: "./src/*/main.mjs" } } },
    },
    "src/x/main.mjs",
  ],
  [
    "a pattern with an ending in its name",
    { ...config('import "#lib/x.js";'), "package.json": { imports: { "#lib/*.js": "./src/*.mjs" } } },
    "src/x.mjs",
  ],
  [
    "the package.json of an inner folder",
    {
      ...config('import "./inner/a.mjs";'),
      "inner/a.mjs": 'import "#x";',
      "inner/package.json": { imports: { "#x": "./x.mjs" } },
    },
    "inner/x.mjs",
  ],
  [
    "the package.json of an inner folder itself",
    { ...config('import "./inner/a.mjs";'), "inner/a.mjs": 'import "#x";' },
    "inner/package.json",
  ],
  [
    "a later import",
    { ...config('const later = () => import("#x");'), "package.json": { imports: { "#x": "./x.mjs" } } },
    "x.mjs",
  ],
  [
    "require",
    {
      ...config('import "./a.cjs";'),
      "a.cjs": "const x = require('#x');",
      "package.json": { imports: { "#x": "./x.cjs" } },
    },
    "x.cjs",
  ],
  [
    "a file that a mapped file imports",
    {
      ...config('import "#x";'),
      "package.json": { imports: { "#x": "./x.mjs" } },
      "x.mjs": 'import "./y.mjs";',
    },
    "y.mjs",
  ],
  [
    "a mapped name of a mapped name",
    {
      ...config('import "#x";'),
      "package.json": { name: "own", imports: { "#x": "own/y" }, exports: { "./y": "./y.mjs" } },
    },
    "y.mjs",
  ],
  [
    "the package's own name",
    { ...config('import "own";'), "package.json": { name: "own", exports: "./main.mjs" } },
    "main.mjs",
  ],
  [
    "a path of the package's own name",
    {
      ...config('import "@a/own/x";'),
      "package.json": { name: "@a/own", exports: { "./*": "./src/*.mjs" } },
    },
    "src/x.mjs",
  ],
  [
    "a skill's toolset",
    {
      ".agents/skills/s/SKILL.md": "---\nname: s\ndescription: S.\n---\nS.",
      ".agents/skills/s/tools.mjs": 'import "#x";',
      "package.json": { imports: { "#x": "./x.mjs" } },
    },
    "x.mjs",
  ],
  [
    "a relative import of a skill's toolset",
    {
      ".agents/skills/s/SKILL.md": "---\nname: s\ndescription: S.\n---\nS.",
      ".agents/skills/s/tools.mjs": 'import "../../../x.mjs";',
    },
    "x.mjs",
  ],
  [
    "the script of a hook",
    {
      ".keyhole/settings.json": { hooks: [{ on: "before-tool", command: "node 'hooks/a.mjs' --quiet" }] },
      "hooks/a.mjs": 'import "#x";',
      "package.json": { imports: { "#x": "./x.mjs" } },
    },
    "x.mjs",
  ],
];

test.each(HIDDEN)("T21: trust covers %s", async (_, files, hidden) => {
  const folder = folderOf(files);
  const before = await folderContents(folder);
  writeIn(folder, { [hidden]: '{ "name": "evil" }' });
  const after = await folderContents(folder);
  expect(after.hash).not.toBe(before.hash);
  expect(after.files.map(({ path }) => path)).toContain(join(after.folder, hidden));
});

test("T21: trust covers a linked package of the same repository", async () => {
  const folder = folderOf({
    ...config('import "part/x";'),
    "packages/part/package.json": { name: "part", exports: { "./x": "./x.mjs" } },
    "packages/part/x.mjs": "",
  });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync("../packages/part", join(folder, "node_modules/part"));
  const before = await folderContents(folder);
  writeIn(folder, { "packages/part/x.mjs": "evil()" });
  expect((await folderContents(folder)).hash).not.toBe(before.hash);
});

/** Imports whose file no reading of the text can tell. */
test.each([
  ["a computed name", 'await import("#" + "x");', { imports: { "#x": "./evil.mjs" } }],
  ["a name in a template", "const n = 'x'; await import(`#$" + "{n}`);", { imports: { "#x": "./evil.mjs" } }],
  ["a computed path", 'await import(["./ev", "il.mjs"].join(""));', {}],
  ["an escaped path", 'import "\\u002e/evil.mjs";', {}],
  ["a file address", 'await import(new URL("evil" + ".mjs", import.meta.url).href);', {}],
  [
    "require by a computed name",
    'import { createRequire } from "node:module"; createRequire(import.meta.url)("./ev" + "il.cjs");',
    {},
  ],
])("T21: a trusted config loads no file that trust does not cover: %s", async (_, line, manifest) => {
  const program = openProgram();
  const mark = join(program.folder, "ran");
  writeIn(program.folder, {
    "package.json": manifest,
    "keyhole.config.mjs": `${line}\nexport const domains = [{ name: "notes", description: "Notes", tools: [] }];`,
    "evil.mjs": `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(mark)}, "");`,
    "evil.cjs": `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");`,
  });
  const { out } = await program.keyhole("approve", ".");
  await program.keyhole("approve", ".", "--hash", listedHash(out));
  const { code, errors } = await program.keyhole("approve");
  expect(existsSync(mark)).toBe(false);
  expect(code).toBe(1);
  expect(errors).toContain("evil.");
  expect(errors).toContain("not among the files that were trusted");
});

test("T21: a trusted config imports by name what its trust covers", async () => {
  const program = openProgram();
  writeIn(program.folder, {
    "package.json": {
      name: "own",
      imports: { "#parts/*": "./parts/*.mjs" },
      exports: { "./more": "./more.mjs" },
    },
    "keyhole.config.mjs": 'import "own/more";\nexport { domains } from "#parts/notes";',
    "parts/notes.mjs": 'export const domains = [{ name: "notes", description: "Notes", tools: [] }];',
    "more.mjs": "",
  });
  const { out } = await program.keyhole("approve", ".");
  expect(out).toContain("parts/notes.mjs");
  await program.keyhole("approve", ".", "--hash", listedHash(out));
  expect(await program.keyhole("approve")).toMatchObject({ code: 0 });
});
