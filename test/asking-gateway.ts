// A gateway over HTTP whose one tool writes a line after a person has approved it. Sends its URL; ends when killed.
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { createEmbeddedIndex } from "keyhole/search";
import { createSpentApprovals } from "../src/core/storage/spent-approvals.ts";
import { openSqliteStorage } from "../src/core/storage/sql-storage.ts";

const [, , folder = ""] = process.argv;
const { open } = openSqliteStorage(join(folder, "state.db"));
const till = defineDomain({
  name: "till",
  description: "A till.",
  tools: [
    defineTool({
      name: "charge_card",
      op: "till.card.charge",
      description: "Charge a card.",
      lane: "write",
      requiresConfirmation: true,
      inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      execute: ({ id }) => {
        appendFileSync(join(folder, "charged.txt"), `${id}\n`);
        // Ends as a killed process does: the effect has taken place, and nobody gets the answer.
        if (existsSync(join(folder, `kill-${id}`))) process.kill(process.pid, "SIGKILL");
        return { charged: id };
      },
    }),
  ],
});
const gateway = createGateway({
  domains: [till],
  index: createEmbeddedIndex(),
  approvals: createSpentApprovals(open, { secret: Buffer.alloc(32, 7) }),
});
const http = await serveHttp(createMcpServer(gateway), {
  authenticate: async () => ({ id: "owner", scopes: [], allowWrite: true }),
});
process.send?.(http.url);
