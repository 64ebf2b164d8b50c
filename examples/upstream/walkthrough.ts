import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway, createPins } from "keyhole";
import { fromMcpConfig } from "keyhole/sources";

// The block from the config of an MCP client, unchanged.
const config = {
  mcpServers: {
    tasks: { command: process.execPath, args: [join(import.meta.dirname, "tasks-server.ts")] },
  },
};
const folder = mkdtempSync(join(tmpdir(), "keyhole-upstream-"));

function start() {
  const sources = fromMcpConfig(config, { cacheDirectory: join(folder, "listings") });
  const gateway = createGateway({
    domains: [],
    sources,
    pins: createPins({ path: join(folder, "approvals.db") }),
    principal: { id: "me", scopes: [], allowWrite: true },
  });
  return { gateway, server: sources[0]! };
}

// A new server is quarantined: its entries are listed by address and do not run.
const first = start();
const before = await first.gateway.exec({ op: "tasks.add_task", args: { title: "Water the plants" } });
assert.equal(before.ok, false);
console.log(before.text);

// A person reads its definitions and approves them.
for (const { route, state } of first.gateway.pins.list()) console.log(state, route);
console.log(first.gateway.pins.diff("tasks://tools/add_task"));
assert.equal(await first.gateway.pins.approve({ source: "tasks" }), 2);

const found = await first.gateway.ask({ query: "write down something to do" });
assert.equal(found.hits[0]?.op, "tasks.add_task");
assert.ok((await first.gateway.exec({ op: "tasks.add_task", args: { title: "Water the plants" } })).ok);
const read = await first.gateway.get({ routes: [{ route: "tasks.list_tasks" }] });
assert.match(read.text, /Water the plants/);
console.log(read.text);
await first.gateway.close();

// The next start knows the server without starting it. A search that finds its tools starts it, for the call that follows.
const second = start();
await second.gateway.ready();
assert.equal(second.server.diagnostics().starts, 0);
assert.equal(
  (await second.gateway.ask({ query: "write down something to do" })).hits[0]?.op,
  "tasks.add_task",
);
assert.ok((await second.gateway.exec({ op: "tasks.list_tasks" })).ok);
assert.equal(second.server.diagnostics().starts, 1);
await second.gateway.close();

rmSync(folder, { recursive: true });
