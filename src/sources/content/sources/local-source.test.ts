import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/temporary-folder.ts";
import { createLocalSource } from "./local-source.ts";

test("lists the files that globs choose, sorted, with a hash as version", async () => {
  const root = folderOf({
    "b.md": "# B",
    "a/deep.md": "# A",
    "c.txt": "text",
    "node_modules/x.md": "#",
    ".git/y.md": "#",
  });
  const source = createLocalSource({ root });
  expect(source.isLocal).toBe(true);
  const documents = await source.listDocuments();
  expect(documents.map(({ id, name, contentType }) => [id, name, contentType])).toEqual([
    ["a/deep.md", "deep.md", "text/markdown"],
    ["b.md", "b.md", "text/markdown"],
  ]);
  expect(await source.fetchContent("b.md")).toEqual({ ...documents[1], content: "# B" });
  const texts = createLocalSource({ root, include: ["*.txt", "*.md"], exclude: ["b.*"] });
  expect((await texts.listDocuments()).map(({ id }) => id)).toEqual(["c.txt"]);
});

test("a version changes with the content", async () => {
  const root = folderOf({ "a.md": "one", "b.md": "one" });
  const source = createLocalSource({ root });
  const [a, b] = await source.listDocuments();
  expect(a?.version).toBe(b?.version);
  writeFileSync(join(root, "a.md"), "two");
  const [changed] = await source.listDocuments();
  expect(changed?.version).not.toBe(a?.version);
  expect((await source.fetchContent("a.md")).content).toBe("two");
});

test("nothing outside the folder is listed or read, wherever links lead", async () => {
  const outside = folderOf({ "secret.md": "# Secret", "deep/more.md": "# More" });
  const root = folderOf({ "inside.md": "# Inside" });
  symlinkSync(join(outside, "secret.md"), join(root, "link.md"));
  symlinkSync(outside, join(root, "folder"));
  symlinkSync(join(root, "inside.md"), join(root, "alias.md"));
  symlinkSync(join(root, "nowhere"), join(root, "dangling.md"));
  const source = createLocalSource({ root, include: ["**/*.md"] });
  expect((await source.listDocuments()).map(({ id }) => id)).toEqual(["alias.md", "inside.md"]);
  const escapes = [
    "link.md",
    "folder/secret.md",
    "../secret.md",
    join(outside, "secret.md"),
    "a\0.md",
    "",
    ".",
  ];
  for (const id of escapes) {
    await expect(source.fetchContent(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
});

test("a glob that leaves the folder is refused before anything is read", () => {
  for (const glob of ["../**/*.md", "a/../../*.md", "/etc/*"]) {
    expect(() => createLocalSource({ root: ".", include: [glob] })).toThrow("leads out of the folder");
  }
});

test("a sibling folder with the same name prefix is outside", async () => {
  const parent = folderOf({ "docs/a.md": "# A", "docs-private/b.md": "# B" });
  symlinkSync(join(parent, "docs-private/b.md"), join(parent, "docs/b.md"));
  const source = createLocalSource({ root: join(parent, "docs") });
  expect((await source.listDocuments()).map(({ id }) => id)).toEqual(["a.md"]);
});

test("a file that was not chosen is not read", async () => {
  const source = createLocalSource({ root: folderOf({ "a.md": "# A", ".env": "KEY=1", ".hidden.md": "#" }) });
  for (const id of [".env", ".hidden.md"]) {
    await expect(source.fetchContent(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
});

test("binary files, folders and large files are skipped", async () => {
  const root = folderOf({ "ok.md": "fine", "large.md": "x".repeat(101) });
  writeFileSync(join(root, "binary.md"), Buffer.from([0x50, 0x00, 0x01]));
  writeFileSync(join(root, "latin.md"), Buffer.from([0xe9, 0x74, 0xe9]));
  mkdirSync(join(root, "folder.md"));
  const source = createLocalSource({ root, maxBytes: 100 });
  expect((await source.listDocuments()).map(({ id }) => id)).toEqual(["ok.md"]);
});

test("a missing folder and a cancelled read are reported", async () => {
  const root = folderOf({ "a.md": "# A" });
  await expect(createLocalSource({ root: join(root, "none") }).listDocuments()).rejects.toMatchObject({
    code: "SOURCE_INVALID",
  });
  const done: number[] = [];
  const source = createLocalSource({ root });
  const progress = (update: { readonly done: number }) => done.push(update.done);
  await source.listDocuments({ signal: new AbortController().signal, progress });
  expect(done).toEqual([1]);
  const cancelled = source.listDocuments({ signal: AbortSignal.abort(), progress });
  await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
});

function folderOf(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}
