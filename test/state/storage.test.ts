import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, describe, onTestFinished, test } from "vitest";
import { openMemoryStorage } from "../../src/core/storage/memory-storage.ts";
import { createSqlDriver, openSqliteStorage, storageTable } from "../../src/core/storage/sql-storage.ts";
import { openDatabase, stateTables } from "../../src/postgres/state/database.ts";
import { describeStorage } from "../../src/testing/describe-storage.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const pglite = new PGlite();
afterAll(() => pglite.close());
let tables = 0;

describeStorage("memory", () => openMemoryStorage, { describe, test });

describeStorage(
  "SQLite",
  () => {
    const { open, close } = openSqliteStorage(join(temporaryFolder(), "state.db"));
    onTestFinished(close);
    return open;
  },
  { describe, test },
);

describeStorage(
  "PostgreSQL",
  async () => {
    tables += 1;
    const database = openDatabase(
      pglite,
      stateTables((suffix) => `t${tables}${suffix}`),
    );
    await database.query(storageTable(database.tables.values));
    return createSqlDriver(database, database.tables.values);
  },
  { describe, test },
);
