// A process that runs one statement and ends. It reads a request from stdin and writes the answer to stdout.

import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { withStatement } from "./guarded-statement.ts";
import type { SqlAnswer, SqlRequest } from "./request.ts";

/** Bounds values, statements and expressions. The parent process bounds the time. */
const LIMITS = { length: 1_000_000, sqlLength: 20_000, exprDepth: 100, column: 200, attached: 0 };
const BUSY_MS = 2_000;

const request = JSON.parse(await text(process.stdin)) as SqlRequest;
const database = new DatabaseSync(request.path, {
  readOnly: request.mode === "read",
  limits: LIMITS,
  timeout: BUSY_MS,
});
process.stdout.write(JSON.stringify(request.mode === "read" ? read() : write()));

function read(): SqlAnswer {
  return withStatement(database, request, (statement) => {
    const rows: unknown[] = [];
    for (const row of statement.iterate()) {
      if (rows.length === request.limit) return { rows, more: true };
      rows.push(row);
    }
    return { rows, more: false };
  });
}

function write(): SqlAnswer {
  database.exec("BEGIN IMMEDIATE");
  const answer = withStatement(database, request, (statement) => ({
    changed_rows: Number(statement.run().changes),
  }));
  database.exec(answer.ok && request.mode === "write" ? "COMMIT" : "ROLLBACK");
  return answer;
}
