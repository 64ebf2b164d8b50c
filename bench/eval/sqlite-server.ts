// node bench/eval/sqlite-server.ts FILE: an MCP server over one SQLite database, with the tools of the reference server.
import { DatabaseSync } from "node:sqlite";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const database = new DatabaseSync(process.argv[2] ?? "");
const QUERY = z.object({ query: z.string().describe("One statement of SQL") });
const READS = { readOnlyHint: true };

serveStdio(() => {
  const server = new McpServer({ name: "sqlite", version: "1" });
  server.registerTool(
    "list_tables",
    { description: "List all tables in the SQLite database", inputSchema: z.object({}), annotations: READS },
    () => answer(() => rows("SELECT name FROM sqlite_master WHERE type = 'table'")),
  );
  server.registerTool(
    "describe_table",
    {
      description: "Get the columns of a table: names, types, keys",
      inputSchema: z.object({ table_name: z.string().describe("Name of the table") }),
      annotations: READS,
    },
    ({ table_name }) => answer(() => rows("SELECT * FROM pragma_table_info(?)", table_name)),
  );
  server.registerTool(
    "read_query",
    {
      description: "Execute a SELECT query on the SQLite database",
      inputSchema: QUERY,
      annotations: READS,
    },
    ({ query }) =>
      answer(() => {
        if (!/^\s*(?:select|with)\b/i.test(query)) throw new Error("Only SELECT queries are allowed.");
        return rows(query);
      }),
  );
  server.registerTool(
    "write_query",
    {
      description: "Execute an INSERT, UPDATE or DELETE query on the SQLite database",
      inputSchema: QUERY,
      annotations: { readOnlyHint: false },
    },
    ({ query }) => answer(() => ({ affected_rows: database.prepare(query).run().changes })),
  );
  server.registerTool(
    "create_table",
    {
      description: "Create a new table in the SQLite database by a CREATE TABLE statement",
      inputSchema: QUERY,
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    ({ query }) =>
      answer(() => {
        database.exec(query);
        return "The table is created.";
      }),
  );
  return server;
});

function rows(sql: string, ...values: string[]): unknown[] {
  return database.prepare(sql).all(...values);
}

function answer(work: () => unknown) {
  try {
    const value = work();
    return {
      content: [{ type: "text" as const, text: typeof value === "string" ? value : JSON.stringify(value) }],
    };
  } catch (error) {
    return {
      content: [{ type: "text" as const, text: `Error: ${(error as Error).message}` }],
      isError: true,
    };
  }
}
