import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { openDatabase } from "./open-database.ts";

const NOTES = ["CREATE TABLE notes (text TEXT) STRICT"];

test("keeps data in a file that only its owner may read", () => {
  const path = join(temporaryFolder(), "state", "keyhole.db");
  const first = openDatabase(path, "notes", NOTES);
  first.database.prepare("INSERT INTO notes VALUES (?)").run("kept");
  first.database.close();
  const second = openDatabase(path, "notes", NOTES);
  expect(second.database.prepare("SELECT text FROM notes").all()).toEqual([{ text: "kept" }]);
  expect(second.damage).toBeUndefined();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  second.database.close();
});

test("runs only new migrations, for each part separately", () => {
  const path = join(temporaryFolder(), "keyhole.db");
  openDatabase(path, "notes", NOTES).database.close();
  openDatabase(path, "other", ["CREATE TABLE other (id TEXT) STRICT"]).database.close();
  const { database } = openDatabase(path, "notes", [...NOTES, "ALTER TABLE notes ADD COLUMN at INTEGER"]);
  database.prepare("INSERT INTO notes (text, at) VALUES (?, ?)").run("later", 1);
  expect(database.prepare("SELECT * FROM notes").all()).toEqual([{ text: "later", at: 1 }]);
  database.close();
});

test("a migration that fails changes nothing", () => {
  const broken = [...NOTES, "CREATE TABLE half (id TEXT) STRICT; SELECT id FROM nowhere"];
  expect(() => openDatabase(":memory:", "notes", broken)).toThrow(/nowhere/);
});

test("a damaged file is renamed and the state starts empty", () => {
  const folder = temporaryFolder();
  const path = join(folder, "keyhole.db");
  writeFileSync(path, "this is not a database, but long enough to be taken for one".repeat(100));
  const { database, damage } = openDatabase(path, "notes", NOTES);
  expect(database.prepare("SELECT count(*) AS count FROM notes").get()).toEqual({ count: 0 });
  expect(damage).toContain("damaged");
  expect(readdirSync(folder).some((name) => name.startsWith("keyhole.db.damaged-"))).toBe(true);
  database.close();
});
