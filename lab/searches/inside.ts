// node lab/searches/inside.ts JSON: the searches of one client over one catalogue, directly or behind Keyhole, in a network
// and process namespace of its own. Writes what was observed. Only `run-searches.ts` starts it.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { serveScriptedModel } from "../../src/testing/serve-scripted-model.ts";
import { openHome } from "../client-home.ts";
import { findClient } from "../clients.ts";
import { readCatalogue } from "./catalogue.ts";
import { SearchModel } from "./model.ts";
import type { SearchAssignment, SearchObserved } from "./searches.ts";
import { serveCatalogue } from "./serve-catalogue.ts";

const assignment = JSON.parse(process.argv[2] ?? "{}") as SearchAssignment;
const { way, size, data, folder, serveArgs } = assignment;
const client = findClient(assignment.client)!;
const { tools, queries } = readCatalogue(data, size);
const catalogue = await serveCatalogue(Map.groupBy(tools, ({ server }) => server!));
const scripted = new SearchModel(client, queries, catalogue.restart);
const model = await serveScriptedModel(scripted.reply);
const { keyhole, connect, run } = await openHome(client, {
  ...assignment,
  model: model.url,
  prompt: "Find tools for a list of needs, one after the other.",
  servers: catalogue.urls,
  hidesTools: true,
  deadlineMs: 400_000,
});
if (way === "keyhole") await connect(serveArgs);
const { code, output } = await run();
if (way === "keyhole") await keyhole("serve", "--stop");
const isOfAgent = new Set(scripted.agentRequests);
const observed: SearchObserved = {
  code,
  output,
  requests: model.requests.map(({ body }) => body).filter((body) => !isOfAgent.has(body)),
  agentRequests: scripted.agentRequests,
  moves: scripted.moves,
};
await Promise.all([model.close(), catalogue.close()]);
await writeFile(join(folder, "observed.json"), JSON.stringify(observed));
process.exit(0);
