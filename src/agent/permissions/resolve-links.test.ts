import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { resolveLinks } from "./to-request.ts";

function setUp() {
  const folder = realpathSync(temporaryFolder());
  for (const name of ["a", "a/b", "far", "far/deep"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "file"), "");
  return { folder, at: (path: string) => join(folder, path) };
}

test("a path without links stays, without empty parts and dots", async () => {
  const { folder, at } = setUp();
  for (const given of ["a/b/c", "./a//b/./c", "a/b/c/", at("a/b/c"), `${at("a")}//b/c`])
    expect([given, await resolveLinks(given, folder)]).toEqual([given, at("a/b/c")]);
  expect(await resolveLinks(".", folder)).toBe(folder);
  expect(await resolveLinks("/", folder)).toBe("/");
});

test("T22: two dots lead up from where a link leads, not from where it stands", async () => {
  const { folder, at } = setUp();
  symlinkSync("../far/deep", at("a/link"));
  expect(await resolveLinks("a/link/..", folder)).toBe(at("far"));
  expect(await resolveLinks("a/link/../x", folder)).toBe(at("far/x"));
  expect(await resolveLinks("a/b/..", folder)).toBe(at("a"));
  expect(await resolveLinks("../../../../../../..", folder)).toBe("/");
});

test("T22: parts that do not exist yet are left again by two dots, and links behind them count", async () => {
  const { folder, at } = setUp();
  symlinkSync(at("far"), at("a/link"));
  expect(await resolveLinks("gone/deeper/../../a/link/x", folder)).toBe(at("far/x"));
  expect(await resolveLinks("gone/deeper/../../gone2/../a/link", folder)).toBe(at("far"));
  // The name of the missing folder is the beginning of the name of a link beside it.
  symlinkSync(at("far"), at("gone-link"));
  expect(await resolveLinks("gone/../gone-link/x", folder)).toBe(at("far/x"));
  expect(await resolveLinks("file/below/x", folder)).toBe(at("file/below/x"));
});

test("a link to a link, to an absolute path and to nothing is followed", async () => {
  const { folder, at } = setUp();
  symlinkSync("second", at("first"));
  symlinkSync(at("far"), at("second"));
  symlinkSync("not-there/x", at("third"));
  expect(await resolveLinks("first/deep", folder)).toBe(at("far/deep"));
  expect(await resolveLinks("third/y", folder)).toBe(at("not-there/x/y"));
});

test("forty links are followed, and one more is refused", async () => {
  const { folder, at } = setUp();
  for (let link = 0; link < 41; link += 1) symlinkSync(link === 0 ? "far" : `l${link - 1}`, at(`l${link}`));
  expect(await resolveLinks("l39", folder)).toBe(at("far"));
  await expect(resolveLinks("l40", folder)).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringMatching(/the workspace.*l40 has too many links/),
  });
});

test("a path that the system cannot look at is not taken for a missing one", async () => {
  const { folder } = setUp();
  await expect(resolveLinks("n".repeat(300), folder)).rejects.toMatchObject({ code: "ENAMETOOLONG" });
});
