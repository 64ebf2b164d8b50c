import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createRecordStore, type RecordStoreOptions } from "./record-store.ts";

const open = (path?: string, more: Partial<RecordStoreOptions<number>> = {}) =>
  createRecordStore({ path, record: z.number(), counted: "approved", ...more });
const records = (entries: Readonly<Record<string, number | undefined>>) => new Map(Object.entries(entries));
const fileIn = (folder = temporaryFolder()) => join(folder, "kept", "records.json");

describe.each(["in memory", "in a file"])("records %s", (where) => {
  const pathOf = () => (where === "in a file" ? fileIn() : undefined);

  test("are set, replaced and removed", async () => {
    const store = open(pathOf());
    expect([store.get("a"), store.keys(), store.damage]).toEqual([undefined, [], undefined]);
    await store.change(records({ b: 2, a: 1 }));
    await store.change(records({ b: 3, c: 4 }));
    await store.change(records({ c: undefined, missing: undefined }));
    expect([store.get("a"), store.get("b"), store.get("c")]).toEqual([1, 3, undefined]);
    expect([...store.keys()].sort()).toEqual(["a", "b"]);
  });

  test("have changes applied in order, also those made at once", async () => {
    const store = open(pathOf());
    await Promise.all([1, 2, 3].map((value) => store.change(records({ a: value, [`k${value}`]: value }))));
    expect(store.get("a")).toBe(3);
    expect([...store.keys()].sort()).toEqual(["a", "k1", "k2", "k3"]);
  });

  test("have nothing to refresh before somebody else writes", () => {
    expect(open(pathOf()).refresh()).toBe(false);
  });
});

describe("a file of records", () => {
  test("is the owner's alone, in a folder of the owner alone", async () => {
    const path = fileIn();
    await open(path).change(records({ a: 1 }));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toEqual(["records.json"]);
  });

  test("is the same bytes for the same records", async () => {
    const [one, other] = [fileIn(), fileIn()];
    await open(one).change(records({ a: 1, b: 2, c: 3 }));
    const store = open(other);
    await store.change(records({ c: 3, a: 1 }));
    await store.change(records({ b: 2 }));
    expect(readFileSync(one, "utf8")).toBe(readFileSync(other, "utf8"));
    expect(JSON.parse(readFileSync(one, "utf8"))).toMatchObject({
      format: 1,
      records: [
        ["a", 1],
        ["b", 2],
        ["c", 3],
      ],
    });
  });

  test("tells once of each change by another process, and keeps its removals", async () => {
    const path = fileIn();
    const [mine, theirs] = [open(path), open(path)];
    await theirs.change(records({ a: 1, b: 2 }));
    expect([mine.refresh(), mine.refresh(), mine.get("a")]).toEqual([true, false, 1]);
    await theirs.change(records({ a: undefined }));
    await mine.change(records({ c: 3 }));
    expect([mine.get("a"), mine.get("b"), mine.get("c")]).toEqual([undefined, 2, 3]);
    expect(theirs.refresh()).toBe(true);
    expect([...theirs.keys()].sort()).toEqual(["b", "c"]);
  });

  test("that was written again without a change is no change", async () => {
    const path = fileIn();
    const [mine, theirs] = [open(path), open(path)];
    await theirs.change(records({ a: 1 }));
    mine.refresh();
    await theirs.change(records({ a: 1 }));
    expect(mine.refresh()).toBe(false);
  });

  test("that is lost counts for nothing, without damage", async () => {
    const path = fileIn();
    const store = open(path);
    await store.change(records({ a: 1 }));
    store.refresh();
    rmSync(path);
    expect([store.refresh(), store.get("a"), store.damage]).toEqual([true, undefined, undefined]);
  });

  test("that cannot be written changes nothing, and the next change works", async () => {
    const path = fileIn();
    const store = open(path);
    await store.change(records({ a: 1 }));
    rmSync(dirname(path), { recursive: true });
    writeFileSync(dirname(path), "a file in place of the folder");
    await expect(store.change(records({ a: 2 }))).rejects.toThrow();
    expect(store.get("a")).toBe(1);
    rmSync(dirname(path));
    await store.change(records({ b: 2 }));
    expect(store.get("b")).toBe(2);
  });
});

describe("a file that does not count", () => {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };

  test.each([
    ["is not JSON", "{"],
    ["is empty", ""],
    ["is another value", "[]"],
    ["lacks its checksum", '{"format":1,"records":[]}'],
    ["has a wrong checksum", '{"format":1,"checksum":"x","records":[["a",1]]}'],
    ["has records of another kind", '{"format":1,"checksum":"x","records":[["a","1"]]}'],
    ["is of a later format", '{"format":2,"checksum":"x","records":[]}'],
    ["is of an earlier format", '{"format":0}'],
  ])("because it %s is set aside, and named once", (_, text) => {
    const path = fileIn();
    write(path, text);
    const store = open(path);
    expect(store.damage).toBe(
      `${path} cannot be read; it is kept as ${path}.damaged, and nothing in it counts as approved`,
    );
    expect([store.keys(), existsSync(path)]).toEqual([[], false]);
    expect(readFileSync(`${path}.damaged`, "utf8")).toBe(text);
    expect(open(path).damage).toBeUndefined();
    store.refresh();
    expect(store.damage).toContain("cannot be read");
  });

  test("and cannot be set aside still counts for nothing", () => {
    const path = fileIn();
    mkdirSync(join(`${path}.damaged`, "taken"), { recursive: true });
    write(path, "{");
    const store = open(path);
    expect(store.damage).toBe(`${path} cannot be read, and nothing in it counts as approved`);
    expect(store.keys()).toEqual([]);
  });

  test("that was changed by a byte while in use ends what counted", async () => {
    const path = fileIn();
    const store = open(path);
    await store.change(records({ a: 1 }));
    writeFileSync(path, readFileSync(path, "utf8").replace(/1(?=\s+\])/, "11"));
    expect([store.refresh(), store.get("a")]).toEqual([true, undefined]);
    expect(store.damage).toContain("cannot be read");
  });
});
