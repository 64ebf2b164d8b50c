// One of several gateways over the same PostgreSQL. Sends its URL when it serves. Ends when it is killed.
import { setTimeout } from "node:timers/promises";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { createPostgresState } from "keyhole/postgres";
import pg from "pg";

const [, , url = "", table = ""] = process.argv;
const pool = new pg.Pool({ connectionString: url, max: 5 });
pool.on("error", () => {});
const MOST_PAUSE_MS = 40;
const pause = () => setTimeout(Math.random() * MOST_PAUSE_MS);

const till = defineDomain({
  name: "till",
  description: "A till.",
  tools: [
    defineTool({
      name: "charge_card",
      op: "till.card.charge",
      description: "Charge a card.",
      lane: "write",
      inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      // The effect can be counted: each run leaves one more row.
      execute: async ({ id }) => {
        await pause();
        const sql = `insert into ${table}_effects (id) values ($1) returning number::int`;
        const { rows } = await pool.query(sql, [id]);
        await pause();
        return { id, number: rows[0].number };
      },
    }),
    defineTool({
      name: "list_receipts",
      op: "till.receipt.list",
      description: "List receipts.",
      lane: "read",
      inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      execute: ({ id }) =>
        Array.from({ length: 3_000 }, (_, number) => ({ receipt: `${id}-${number}`, number })),
    }),
  ],
});

const state = await createPostgresState({ client: pool, table, leaseMs: 2_000 });
const gateway = createGateway({ domains: [till], ...state.stores });
const http = await serveHttp(createMcpServer(gateway), {
  authenticate: async ({ authorization = "" }) => ({ id: authorization, scopes: [], allowWrite: true }),
  limits: { ratePerSecond: 10_000, burst: 10_000 },
});
process.send?.(http.url);
