import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openDatabase as openSqlite, withDatabase } from "../../src/core/storage/open-database.ts";
import type { PostgresClient } from "../../src/core/storage/postgres-client.ts";
import { openRecordFile } from "../../src/core/storage/record-file.ts";
import { createMemoryRecords, openRecords, type RecordStorage } from "../../src/core/storage/records.ts";
import { quotedNames } from "../../src/postgres/quoted-names.ts";
import { openDatabase, stateTables } from "../../src/postgres/state/database.ts";
import { migrate } from "../../src/postgres/state/migrate.ts";
import { createPostgresRecords } from "../../src/postgres/state/postgres-records.ts";
import { changeBytes } from "../change-bytes.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const pglite = new PGlite();
afterAll(() => pglite.close());
const url = process.env.KEYHOLE_POSTGRES_URL;
const pool = url ? new pg.Pool({ connectionString: url, max: 10 }) : undefined;
afterAll(() => pool?.end());
let tables = 0;

async function inPostgres(client: PostgresClient): Promise<() => RecordStorage> {
  tables += 1;
  const database = openDatabase(client, stateTables(quotedNames(`r${process.pid}_${tables}`, "test")));
  await migrate(database);
  return () => createPostgresRecords(database);
}

/** One state; each call of the function opens it as another process would. */
const DRIVERS: Record<string, () => Promise<() => RecordStorage>> = {
  memory: async () => {
    const storage = createMemoryRecords();
    return () => storage;
  },
  SQLite: async () => {
    const path = fileIn();
    return () => openRecordFile(path);
  },
  "PostgreSQL in process": () => inPostgres(pglite),
  ...(pool && { "a PostgreSQL server": () => inPostgres(pool) }),
};

const fileIn = (folder = temporaryFolder()) => join(folder, "kept", "records.db");
const open = (storage: RecordStorage, kind = "number") => openRecords(storage, kind, z.number());
const openFile = (path: string) => {
  const records = open(openRecordFile(path));
  void records.refresh();
  return records;
};
const records = (entries: Readonly<Record<string, number | undefined>>) => new Map(Object.entries(entries));

describe.each(Object.entries(DRIVERS))("records in %s", (_, create) => {
  test("are set, replaced and removed, with the number that changed", async () => {
    const store = open((await create())());
    await store.refresh();
    expect([store.get("a"), store.entries().size, store.damage]).toEqual([undefined, 0, undefined]);
    expect(await store.change(records({ b: 2, "a\0": 1 }))).toBe(2);
    expect(await store.change(records({ b: 3, c: 4 }))).toBe(2);
    expect(await store.change(records({ c: undefined, missing: undefined }))).toBe(1);
    expect(await store.change(new Map())).toBe(0);
    expect([...store.entries()].sort()).toEqual([
      ["a\0", 1],
      ["b", 3],
    ]);
  });

  test("of several kinds share nothing", async () => {
    const storage = (await create())();
    const [one, other] = [open(storage, "one"), open(storage, "other")];
    await one.change(records({ a: 1 }));
    await other.refresh();
    expect([one.get("a"), other.get("a")]).toEqual([1, undefined]);
    await other.change(records({ a: undefined }));
    await one.refresh();
    expect(one.get("a")).toBe(1);
  });

  test("are added once, whoever comes first", async () => {
    const openStorage = await create();
    const stores = Array.from({ length: 5 }, () => open(openStorage()));
    const added = await Promise.all(stores.map((store, at) => store.add("a", at)));
    expect(added.filter(Boolean)).toHaveLength(1);
    for (const store of stores) await store.refresh();
    expect(new Set(stores.map((store) => store.get("a")))).toEqual(new Set([added.indexOf(true)]));
    await stores[0]!.change(records({ a: undefined }));
    expect(await stores[1]!.add("a", 7)).toBe(true);
  });

  test("tell once of each change by others, and keep what others removed removed", async () => {
    const openStorage = await create();
    const [mine, theirs] = [open(openStorage()), open(openStorage())];
    await mine.refresh();
    await theirs.change(records({ a: 1, b: 2 }));
    expect([await mine.refresh(), await mine.refresh(), mine.get("a")]).toEqual([true, false, 1]);
    await theirs.change(records({ a: undefined }));
    await mine.change(records({ c: 3 }));
    expect(Object.fromEntries(mine.entries())).toEqual({ b: 2, c: 3 });
    expect([await mine.refresh(), await theirs.refresh()]).toEqual([false, true]);
    expect(Object.fromEntries(theirs.entries())).toEqual({ b: 2, c: 3 });
  });

  test("see every one of many changes in the same moment", async () => {
    const openStorage = await create();
    const [mine, theirs] = [open(openStorage()), open(openStorage())];
    for (let value = 0; value < 40; value += 1) {
      await theirs.change(records({ a: value % 2 === 0 ? value : undefined }));
      await mine.refresh();
      expect(mine.get("a")).toBe(value % 2 === 0 ? value : undefined);
    }
  });

  test("that are no such records do not count, which is told until they are replaced", async () => {
    const openStorage = await create();
    const storage = openStorage();
    await storage.change(
      "number",
      new Map([
        ["a", "1"],
        ["b", '"text"'],
        ["c", "{"],
      ]),
    );
    const store = open(openStorage());
    await store.refresh();
    expect([store.get("a"), store.get("b"), store.get("c")]).toEqual([1, undefined, undefined]);
    expect(store.damage).toBe(`Records of ${storage.name} are damaged and do not count: 2.`);
    await store.change(records({ b: 2, c: undefined }));
    expect([store.get("b"), store.damage]).toEqual([2, undefined]);
  });
});

describe("a file of records", () => {
  test("is the owner's alone, in a folder of the owner alone, with nothing beside it", async () => {
    const path = fileIn();
    await openFile(path).change(records({ a: 1 }));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toEqual(["records.db"]);
  });

  test("is not made by reading", () => {
    const path = fileIn();
    expect(openFile(path).entries().size).toBe(0);
    expect(existsSync(dirname(path))).toBe(false);
  });

  test("keeps no removed or replaced record", async () => {
    const path = fileIn();
    const store = openRecords(openRecordFile(path), "text", z.string());
    await store.change(
      new Map([
        ["a", "first secret"],
        ["b", "other secret"],
      ]),
    );
    await store.change(
      new Map([
        ["a", "later"],
        ["b", undefined],
      ]),
    );
    expect(readFileSync(path, "latin1")).not.toContain("secret");
  });

  test("that was written again without a change is no change", async () => {
    const path = fileIn();
    const [mine, theirs] = [openFile(path), openFile(path)];
    await theirs.change(records({ a: 1 }));
    void mine.refresh();
    expect(await theirs.change(records({ a: 1 }))).toBe(0);
    expect(mine.refresh()).toBe(false);
  });

  test("that did not change is not opened", async () => {
    const path = fileIn();
    const store = openFile(path);
    await store.change(records({ a: 1 }));
    await setTimeout(150);
    void store.refresh();
    chmodSync(path, 0o640);
    expect(store.refresh()).toBe(false);
    // Opening would set the mode.
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  test("that is lost or replaced by an earlier one counts as it is", async () => {
    const path = fileIn();
    const store = openFile(path);
    await store.change(records({ a: 1 }));
    const earlier = readFileSync(path);
    await store.change(records({ a: 2, b: 2 }));
    writeFileSync(path, earlier);
    expect([store.refresh(), store.get("a"), store.get("b")]).toEqual([true, 1, undefined]);
    rmSync(path);
    expect([store.refresh(), store.get("a"), store.damage]).toEqual([true, undefined, undefined]);
  });

  test("works in the other journal mode, in which changes stand beside it", async () => {
    const path = fileIn();
    await openFile(path).change(records({ a: 1 }));
    await setTimeout(150);
    const { database } = openSqlite(path, "other", []);
    const [mine, theirs] = [openFile(path), openFile(path)];
    for (const value of [2, 3]) {
      await setTimeout(150);
      void mine.refresh();
      await theirs.change(records({ a: value }));
      expect([mine.refresh(), mine.get("a")]).toEqual([true, value]);
    }
    database.close();
  });
});

describe("a file that cannot be used now", () => {
  const inTheWay = (path: string) => {
    rmSync(path);
    mkdirSync(path);
  };

  test("changes nothing, is told, and works again when it can be used", async () => {
    const path = fileIn();
    const store = openFile(path);
    await store.change(records({ a: 1 }));
    inTheWay(path);
    await expect(store.change(records({ a: 2 }))).rejects.toMatchObject({ code: "STATE_UNREADABLE" });
    expect(() => store.refresh()).toThrow(expect.objectContaining({ code: "STATE_UNREADABLE" }));
    expect(store.get("a")).toBe(1);
    rmdirSync(path);
    await store.change(records({ b: 2 }));
    expect(Object.fromEntries(store.entries())).toEqual({ b: 2 });
  });

  test("at the start counts for nothing, and says so until it can be read", async () => {
    const path = fileIn();
    await openFile(path).change(records({ a: 1 }));
    const bytes = readFileSync(path);
    inTheWay(path);
    const store = open(openRecordFile(path));
    expect(() => store.refresh()).toThrow();
    expect([store.entries().size, store.damage]).toEqual([
      0,
      expect.stringMatching(/cannot be used now.* nothing in it counts/),
    ]);
    rmdirSync(path);
    writeFileSync(path, bytes);
    expect([store.refresh(), store.get("a"), store.damage]).toEqual([true, 1, undefined]);
    expect(readdirSync(dirname(path))).toEqual(["records.db"]);
  });

  test("because a writer holds it is waited for", async () => {
    const path = fileIn();
    await openFile(path).change(records({ a: 1 }));
    const work = `
      const { DatabaseSync } = require("node:sqlite");
      const database = new DatabaseSync(process.argv[1]);
      database.exec("BEGIN EXCLUSIVE");
      console.log("held");
      setTimeout(() => database.close(), 700);`;
    const child = spawn(process.execPath, ["-e", work, path], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const store = openFile(path);
    await store.change(records({ b: 2 }));
    expect(Object.fromEntries(store.entries())).toEqual({ a: 1, b: 2 });
  });
});

describe("a damaged file", () => {
  const LONG = "not a database, but long enough to be taken for one".repeat(100);

  test.each([
    ["text", '{"format":1}'],
    ["other bytes", LONG],
  ])("of %s is set aside and named, and counts for nothing", async (_, text) => {
    const path = fileIn();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const store = openFile(path);
    const [, aside] = readdirSync(dirname(path));
    expect(store.damage).toBe(
      `${path} was damaged and is now ${join(dirname(path), aside!)}; nothing in it counts.`,
    );
    expect(readFileSync(join(dirname(path), aside!), "utf8")).toBe(text);
    expect(openFile(path).damage).toBeUndefined();
    await store.change(records({ a: 1 }));
    expect(openFile(path).get("a")).toBe(1);
  });

  test("whose inside is torn is set aside when it is read", async () => {
    const path = fileIn();
    const many = Array.from({ length: 500 }, (_, at) => [`key ${at}`, at] as const);
    const store = openFile(path);
    await store.change(new Map(many));
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(7, 4_096));
    expect([store.refresh(), store.entries().size]).toEqual([true, 0]);
    expect(store.damage).toContain("nothing in it counts");
  });

  test("loses the changed record alone", async () => {
    const path = fileIn();
    await openFile(path).change(records({ first: 123456, other: 654321 }));
    changeBytes(path, "123456", "999999");
    const store = openFile(path);
    expect([store.get("first"), store.get("other")]).toEqual([undefined, 654321]);
    expect(store.damage).toBe(`Records of ${path} are damaged and do not count: 1.`);
    await store.change(records({ first: 123456 }));
    expect([store.get("first"), store.damage]).toEqual([123456, undefined]);
  });

  test("does not let a record count under another key or kind", async () => {
    const path = fileIn();
    await openFile(path).change(records({ first: 1, second: 2 }));
    withDatabase(path, "records", [], (database) =>
      database.exec(
        "UPDATE records SET key = 'third' WHERE key = 'first'; UPDATE revisions SET revision = 'x'",
      ),
    );
    const store = openFile(path);
    expect(Object.fromEntries(store.entries())).toEqual({ second: 2 });
  });
});
