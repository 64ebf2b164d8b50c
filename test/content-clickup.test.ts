import type { ClickUpSourceOptions } from "keyhole/sources";
import { expect, onTestFinished, test } from "vitest";
import {
  createClickUpDocFormat,
  createClickUpTaskFormat,
} from "../src/sources/content/formats/clickup-format.ts";
import { createClickUpSource } from "../src/sources/content/sources/clickup-source.ts";
import { describeFaults } from "./content-faults.ts";
import { nodesOf, type Reply, serve, testClock } from "./content-kit.ts";
import { startLoopbackApi } from "./loopback-api.ts";

const TOKEN = "pk_secret_0123456789";
const docs = ["handbook", "runbook", "notes"].map((name, index) => ({
  id: `8c${index}`,
  date_created: 1_700_000_000_000,
  date_updated: 1_700_000_000_000,
  name,
  type: 1,
  workspace_id: 42,
  creator: 1,
  deleted: false,
  archived: false,
  parent: { id: "9", type: 7 },
}));
const pages = [
  {
    id: "p1",
    doc_id: "8c0",
    workspace_id: 42,
    name: "Working here",
    content: "We begin at nine.\n\n## Holidays\n\nThirty days a year.\n",
    date_updated: 1_700_000_000_000,
    pages: [
      {
        id: "p2",
        doc_id: "8c0",
        workspace_id: 42,
        name: "Remote work",
        content: "From anywhere.",
        pages: [],
      },
    ],
  },
];
const list = { id: "901", name: "Sprint 1", content: "The first sprint", task_count: "3", archived: false };
const tasks = Array.from({ length: 3 }, (_, index) => ({
  id: `86a${index}`,
  custom_id: null,
  name: `Task ${index}`,
  text_content: `Do thing ${index}.`,
  description: `Do thing ${index}.`,
  status: { status: "in progress", type: "custom", color: "#fff", orderindex: 1 },
  date_created: "1700000000000",
  date_updated: `170000000000${index}`,
  due_date: "1767225600000",
  assignees: [{ id: 7, username: "Mona", email: "mona@example.com" }],
  checklists: [{ id: "c", name: "Steps", items: [{ id: "i", name: "Write it down", resolved: true }] }],
  tags: [{ name: "backend", tag_fg: "#000" }],
  priority: { id: "2", priority: "high" },
  list: { id: "901", name: "Sprint 1", access: true },
  url: `https://app.clickup.example/t/86a${index}`,
}));

describeFaults("ClickUp", {
  open: (options) => open({ ...options, kinds: ["docs", "tasks"] }),
  answer: () => serve(clickUp),
  secret: TOKEN,
});

test("ClickUp: reads documents by cursor, with nested pages and their headings", async () => {
  const { api, source } = await start({ kinds: ["docs"] });
  expect((await source.listDocuments()).map(({ id }) => id)).toEqual(["doc:8c0", "doc:8c1", "doc:8c2"]);
  expect(api.seen.map(({ url }) => url)).toEqual([
    "/v3/workspaces/42/docs?limit=100",
    "/v3/workspaces/42/docs?limit=100&next_cursor=after-2",
  ]);
  expect(api.seen[0]?.headers.authorization).toBe(TOKEN);
  const nodes = await nodesOf(source, [createClickUpDocFormat()], "handbook");
  expect(nodes.slice(0, 4).map(({ path, metadata }) => [path, metadata?.resource_type])).toEqual([
    ["handbook/docs/8c0", "doc"],
    ["handbook/docs/8c0/working-here", "page"],
    ["handbook/docs/8c0/working-here/holidays", "section"],
    ["handbook/docs/8c0/working-here/remote-work", "page"],
  ]);
  expect(nodes[0]?.content).toContain("Thirty days a year.");
  expect(nodes[0]?.content).toContain("From anywhere.");
  expect(nodes[0]?.searchText).not.toContain("Thirty days");
});

test("ClickUp: reads tasks by page, lists of folders and spaces, and each task once", async () => {
  const { source } = await start({ kinds: ["tasks", "lists"] });
  const documents = await source.listDocuments();
  expect(documents.map(({ id }) => id)).toEqual([
    "list:901",
    "list:902",
    "task:86a0",
    "task:86a1",
    "task:86a2",
  ]);
  expect(documents[3]).toMatchObject({ contentType: "clickup-task", version: "1700000000001" });
  const nodes = await nodesOf(source, [createClickUpTaskFormat()]);
  const task = nodes.find(({ name }) => name === "Task 1");
  expect(task).toMatchObject({
    path: "tasks/86a1",
    description: "Do thing 1.",
    metadata: { resource_type: "task", status: "in progress", tags: ["backend"] },
  });
  expect(task?.content).toContain("Assignees: Mona");
  expect(task?.content).toContain("Due: 2026-01-01T00:00:00.000Z");
  expect(task?.content).toContain("- [x] Write it down");
  expect(nodes[0]?.content).toContain("The first sprint");
});

test("ClickUp: named lists need no search through spaces", async () => {
  const { api, source } = await start({ kinds: ["lists"], listIds: ["901"] });
  expect((await source.listDocuments()).map(({ name }) => name)).toEqual(["Sprint 1"]);
  expect(api.seen.map(({ url }) => url)).toEqual(["/v2/list/901"]);
});

function open(options: Partial<ClickUpSourceOptions>) {
  return createClickUpSource({ workspaceId: "42", token: TOKEN, ...options });
}

async function start(options: Partial<ClickUpSourceOptions>) {
  const api = await startLoopbackApi();
  onTestFinished(() => api.close());
  api.answer = serve(clickUp);
  const shared = { baseUrl: api.url, allowPrivateHosts: [api.host], clock: testClock() };
  return { api, source: open({ ...shared, ...options }) };
}

/** Answers like the API, with two items per page. */
function clickUp(url: URL): Reply | undefined {
  const { pathname, searchParams } = url;
  if (pathname === "/v3/workspaces/42/docs") {
    const isSecond = searchParams.get("next_cursor") === "after-2";
    return { value: isSecond ? { docs: docs.slice(2) } : { docs: docs.slice(0, 2), next_cursor: "after-2" } };
  }
  const [, docId, isPages] = /^\/v3\/workspaces\/42\/docs\/(\w+)(\/pages)?$/.exec(pathname) ?? [];
  if (isPages)
    return { value: docId === "8c0" && searchParams.get("content_format") === "text/md" ? pages : [] };
  const found = docs.find(({ id }) => id === docId);
  if (found) return { value: found };
  const task = tasks.find(({ id }) => pathname === `/v2/task/${id}`);
  if (task) return { value: { ...task, markdown_description: task.description } };
  if (/^\/v2\/list\/90[12]\/task$/.test(pathname)) {
    const page = Number(searchParams.get("page"));
    return { value: { tasks: tasks.slice(page * 2, page * 2 + 2), last_page: page === 1 } };
  }
  const table: Record<string, unknown> = {
    "/v2/team/42/space": { spaces: [{ id: "7", name: "Product", private: false }] },
    "/v2/space/7/folder": { folders: [{ id: "5", name: "Sprints", lists: [list] }] },
    "/v2/space/7/list": { lists: [{ ...list, id: "902", name: "Backlog" }] },
    "/v2/list/901": list,
    "/v2/list/902": { ...list, id: "902", name: "Backlog" },
  };
  return Object.hasOwn(table, pathname) ? { value: table[pathname] } : undefined;
}
