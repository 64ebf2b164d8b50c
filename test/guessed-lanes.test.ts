// Lanes of tools in code whose authors declare none.
import { createGateway, defineDomain, defineTool, onEvent } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { openProgram } from "./threats/program.ts";

/** Routes in the style of Ernesto: a path of nouns, a title and a description. All of them read. */
const READING: readonly (readonly [route: string, name: string, description: string])[] = [
  ["merge-requests", "Merge Requests", "Merge requests of a project, newest first"],
  ["open-incidents", "Open Incidents", "List incidents that are not resolved"],
  ["run-report", "Run Report", "Report of the last run"],
  ["commit-history", "Commit History", "Shows the commits of a branch"],
  ["deploy-status", "Deploy Status", "Status of the latest deployment"],
  ["build-logs", "Build Logs", "Returns the log of a build"],
  ["order-history", "Order History", "Orders of a customer"],
  ["post-stats", "Post Stats", "Views and likes of a post"],
  ["share-prices", "Share Prices", "Prices of a share by day"],
  ["schedule-overview", "Schedule Overview", "Who works when"],
  ["import-jobs", "Import Jobs", "Finds import jobs by state"],
  ["archive-search", "Archive Search", "Search the archive"],
  ["update-log", "Update Log", "What changed in each release"],
  ["change-requests", "Change Requests", "Change requests that wait for a review"],
  ["tag-list", "Tag List", "All tags of the blog"],
  ["link-graph", "Link Graph", "Graph of pages and their links"],
  ["comment-threads", "Comment Threads", "Threads below an article"],
  ["store-locations", "Store Locations", "Addresses of the shops"],
  ["sync-state", "Sync State", "State of each replica"],
  ["transfer-fees", "Transfer Fees", "Fees by country"],
  ["trigger-conditions", "Trigger Conditions", "Conditions of a trigger"],
  ["reset-policy", "Reset Policy", "How passwords are reset"],
  ["copy-guidelines", "Copy Guidelines", "Guidelines for texts"],
  ["book-inventory", "Book Inventory", "Books that are in stock"],
  ["register-entries", "Register Entries", "Entries of the cash register"],
  ["invite-quota", "Invite Quota", "How many invites are left"],
  ["start-times", "Start Times", "Gets the start of each shift"],
  ["mark-sheet", "Mark Sheet", "Marks of a class"],
  ["claim-summary", "Claim Summary", "Summary of an insurance claim"],
  ["investigator", "Log Investigator", "Deep-dive investigation on a user"],
];

/** The same words as verbs. */
const WRITING: readonly (readonly [route: string, name: string, description: string])[] = [
  ["merge-branches", "Merge Branches", "Merge two branches"],
  ["open-incident", "Open Incident", "Opens an incident"],
  ["run-report", "Run Report", "Run the report and mail it"],
  ["deploy-service", "Deploy Service", "Deploys a service"],
  ["order-parts", "Order Parts", "Order parts at the supplier"],
  ["reset-password", "Reset Password", "Sends a new password"],
  ["get-and-delete", "Get And Delete", "Returns a message once"],
  ["delete-users", "Delete Users", "List of users to be removed"],
];

function gatewayWith(rows: typeof READING) {
  const tools = rows.map(([path, name, description]) =>
    defineTool({ route: `ops://tools/${path}`, name, description, execute: () => `ran ${path}` }),
  );
  const gateway = createGateway({ domains: [defineDomain({ name: "ops", description: "Ops.", tools })] });
  onTestFinished(() => gateway.close());
  return gateway;
}

test("a word that is a noun in its route is no verb, so get runs the tool", async () => {
  const gateway = gatewayWith(READING);
  const routes = READING.map(([path]) => ({ route: `ops://tools/${path}` }));
  const { results } = await gateway.get({ routes: routes.slice(0, 15) });
  const { results: more } = await gateway.get({ routes: routes.slice(15) });
  const refused = [...results, ...more].filter(({ ok }) => !ok).map(({ route }) => route);
  expect(refused).toEqual([]);
});

test("the same word as a verb is one, and get refuses the tool", async () => {
  const gateway = gatewayWith(WRITING);
  const { results } = await gateway.get({
    routes: WRITING.map(([path]) => ({ route: `ops://tools/${path}` })),
  });
  const ran = results.filter(({ ok }) => ok).map(({ route }) => route);
  expect(ran).toEqual([]);
});

test("lanes that were guessed are told once at the start, those that a name or the author tells are not", async () => {
  const notices: string[] = [];
  const stop = onEvent((event) => {
    if (event.type === "notice" && event.notice === "lane-guessed") notices.push(event.detail);
  });
  onTestFinished(stop);
  const { execute } = { execute: () => null };
  const tools = [
    defineTool({ name: "merge-requests", description: "Merge requests of a project", execute }),
    defineTool({ name: "analyst", description: "Knows the schema", execute }),
    defineTool({ name: "list_orders", description: "Lists orders", execute }),
    defineTool({ name: "planner", description: "Plans", lane: "write", execute }),
  ];
  const gateway = createGateway({ domains: [defineDomain({ name: "ops", description: "Ops.", tools })] });
  onTestFinished(() => gateway.close());
  await gateway.ready();
  await gateway.setDomains([defineDomain({ name: "ops", description: "Ops.", tools })]);
  expect(notices).toHaveLength(1);
  expect(notices[0]).toContain("ops.analyst reads");
  expect(notices[0]).toContain('declare lane: "read", "write" or "destructive"');
  expect(notices[0]).not.toMatch(/order|planner/);
});

test("keyhole catalog lint lists guessed lanes with what to write", async () => {
  const program = openProgram();
  const config = program.write(
    "keyhole.config.ts",
    `export const domains = [{ name: "ops", description: "Ops.", tools: [
      { name: "analyst", description: "Answers questions about the tables of the warehouse.", execute: () => null },
    ] }];`,
  );
  const { out } = await program.keyhole("catalog", "lint", "--config", config);
  expect(out).toContain("ops.analyst: it declares no lane, and its name does not tell one");
  expect(out).toContain('better: lane: "read", or whichever of read, write, destructive is true');
});
