// Walks the document about tool help: read before write.
import { defineDomain } from "keyhole";
import { createOpenApiSource } from "keyhole/sources";
import { describe, expect, test } from "vitest";
import { createDomains, open } from "./tool-help-registry.ts";

describe("read before write", () => {
  async function warningsOf(
    gateway: ReturnType<typeof open>,
    session: string,
    op: string,
    args: Record<string, unknown>,
  ) {
    const answer = await gateway.exec({ op, args, session }, { approve: () => true });
    expect(answer.ok, answer.text).toBe(true);
    return answer.meta.warnings;
  }

  test('"Do research now" in a new session is warned about, with the search that would have been first', async () => {
    const gateway = open(createDomains({ readBeforeWrite: "warn" }));
    const session = await gateway.openSession();
    const args = { title: "Do research now" };
    const [warning = "", ...others] = await warningsOf(gateway, session, "onto.task.create", args);
    expect(others).toEqual([]);
    expect(warning).toContain('onto.task.search {"search":"Do research now"}');
    expect(warning).toContain("Research/analysis requests you can do now");
  });

  test.each([
    ["onto.task.search", { search: "supplier" }],
    ["onto.task.list", { project_id: "p" }],
    ["onto.search", { search: "supplier" }],
  ])("a create after %s runs without a warning", async (op, args) => {
    const gateway = open(createDomains({ readBeforeWrite: "warn" }));
    const session = await gateway.openSession();
    await gateway.exec({ op, args, session });
    expect(await warningsOf(gateway, session, "onto.task.create", { title: "New" })).toEqual([]);
  });

  test("a search for other things is not a search for the same thing", async () => {
    const gateway = open(createDomains({ readBeforeWrite: "warn" }));
    const session = await gateway.openSession();
    await gateway.exec({ op: "onto.document.search", args: { search: "supplier" }, session });
    expect(await warningsOf(gateway, session, "onto.task.create", { title: "New" })).toHaveLength(1);
  });

  test("an update or delete of something never read is warned about, with the call that reads what is left", async () => {
    const gateway = open();
    const warningOf = async (op: string) =>
      (await warningsOf(gateway, await gateway.openSession(), op, { task_id: "task_2" }))[0];
    expect(await warningOf("onto.task.update")).toContain('onto.task.get {"task_id":"task_2"}');
    // A destroyed thing cannot be read any more, so there is no call to name.
    expect(await warningOf("onto.task.delete")).toBeUndefined();
  });

  test("what was read, listed or created in the session may be changed", async () => {
    const gateway = open();
    const session = await gateway.openSession();
    await gateway.exec({ op: "onto.task.list", args: {}, session });
    expect(await warningsOf(gateway, session, "onto.task.update", { task_id: "task_1" })).toEqual([]);
    const made = await gateway.exec({ op: "onto.task.create", args: { title: "New" }, session });
    const { id } = (made.ok ? made.result : {}) as { id: string };
    expect(await warningsOf(gateway, session, "onto.task.update", { task_id: id })).toEqual([]);
    await gateway.get({
      routes: [{ route: "onto.document.get", params: { document_id: "doc_x" } }],
      session,
    });
    expect(await warningsOf(gateway, session, "onto.document.delete", { document_id: "doc_x" })).toEqual([]);
  });

  test("another session knows nothing of it, and a call without a session is not judged", async () => {
    const gateway = open();
    const [one, other] = [await gateway.openSession(), await gateway.openSession()];
    await gateway.exec({ op: "onto.task.list", args: {}, session: one });
    expect(await warningsOf(gateway, other, "onto.task.update", { task_id: "task_1" })).toHaveLength(1);
    const answer = await gateway.exec({ op: "onto.task.update", args: { task_id: "task_1" } });
    expect(answer).toMatchObject({ ok: true, meta: { warnings: [] } });
  });

  test("a domain can make it a refusal, which the read lifts", async () => {
    const gateway = open(createDomains({ readBeforeWrite: "refuse" }));
    const session = await gateway.openSession();
    const create = () =>
      gateway.exec({ op: "onto.task.create", args: { title: "Do research now" }, session });
    const refused = await create();
    expect(refused).toMatchObject({
      ok: false,
      error: {
        code: "CONFLICT",
        details: { read: { op: "onto.task.search", args: { search: "Do research now" } } },
        helpPath: "onto.task.create",
      },
    });
    const read = { op: "onto.task.search", args: { search: "Do research now" } };
    await gateway.exec({ ...read, session });
    expect(await create()).toMatchObject({ ok: true, meta: { warnings: [] } });
  });

  test("a domain can switch it off, and other writes are not judged", async () => {
    const quiet = open(createDomains({ readBeforeWrite: "off" }));
    expect(await warningsOf(quiet, await quiet.openSession(), "onto.task.create", { title: "x" })).toEqual(
      [],
    );
    const gateway = open();
    const link = { from_id: "a", to_id: "b" };
    expect(await warningsOf(gateway, await gateway.openSession(), "onto.edge.link", link)).toEqual([]);
  });

  test("plain names of imported tools are understood too", async () => {
    const tool = (name: string, properties: object) => ({
      name,
      route: `hub://tools/${name}`,
      description: `${name}.`,
      inputSchema: { type: "object", properties },
      execute: () => `Issue ${name === "list_issues" ? "#17" : ""} done`,
    });
    const text = { type: "string" };
    const tools = [
      tool("list_repos", { query: text }),
      tool("search_issues", { query: text }),
      tool("list_issues", { repo: text }),
      tool("get_issue", { repo: text, issue_number: { type: "integer" } }),
      tool("create_issue", { repo: text, title: text }),
      tool("update_issue", { repo: text, issue_number: { type: "integer" }, title: text }),
    ];
    const hub = { name: "hub", description: "Issues.", readBeforeWrite: "warn", tools } as const;
    const gateway = open([defineDomain(hub)]);
    const session = await gateway.openSession();
    await gateway.exec({ op: "hub.list_repos", args: {}, session });
    const created = await warningsOf(gateway, session, "hub.create_issue", { repo: "a", title: "Crash" });
    expect(created[0]).toContain('hub.search_issues {"query":"Crash"}');
    const change = { repo: "a", issue_number: 17 };
    const [updated] = await warningsOf(gateway, session, "hub.update_issue", change);
    expect(updated).toContain('hub.get_issue {"issue_number":17}');
    await gateway.exec({ op: "hub.list_issues", args: { repo: "a" }, session });
    expect(await warningsOf(gateway, session, "hub.update_issue", change)).toEqual([]);
  });

  test("by default, tools that create something new or only search are not judged", async () => {
    const gateway = open();
    const create = { title: "New" };
    expect(await warningsOf(gateway, await gateway.openSession(), "onto.task.create", create)).toEqual([]);
    const hub = open([hubOf(["get_page", {}], ["search_pages", {}, { destructiveHint: true }])]);
    expect(await warningsOf(hub, await hub.openSession(), "hub.search_pages", { id: "a" })).toEqual([]);
  });

  test("a read whose arguments are not all there is never suggested", async () => {
    const text = { type: "string" };
    const needsRepo = { id: text, repo: { ...text, required: true } };
    const write = { id: "a" };
    const alone = open([hubOf(["get_page", needsRepo], ["update_page", { id: text }])]);
    expect(await warningsOf(alone, await alone.openSession(), "hub.update_page", write)).toEqual([]);
    const other = open([hubOf(["get_page", needsRepo], ["list_pages", {}], ["update_page", { id: text }])]);
    const [warning] = await warningsOf(other, await other.openSession(), "hub.update_page", write);
    expect(warning).toContain("Check what it changed: hub.list_pages {}");
    const strict = open([
      { ...hubOf(["get_page", needsRepo], ["update_page", { id: text }]), readBeforeWrite: "refuse" },
    ]);
    const session = await strict.openSession();
    const refused = await strict.exec({ op: "hub.update_page", args: write, session });
    expect(refused.text).toContain("Read first: hub.get_page, which needs repo.");
  });

  test("a call that names no thing is about none that could be read, and a deprecated read is never suggested", async () => {
    const hub = open([hubOf(["find_page", { text: {} }], ["close_page", {}, { destructiveHint: true }])]);
    const dry = { op: "hub.close_page", args: {}, session: await hub.openSession(), dryRun: true };
    expect((await hub.exec(dry)).text).not.toContain("read");
    const read = { id: { type: "string" } };
    const { tools = [], ...pages } = hubOf(["get_page", read], ["show_page", read], ["update_page", read]);
    const old = { ...tools[0]!, description: "Get a page. DEPRECATED: use show_page." };
    const gateway = open([{ ...pages, tools: [old, ...tools.slice(1)] }]);
    const write = { op: "hub.update_page", args: { id: "a" } };
    const { text } = await gateway.exec({ ...write, session: await gateway.openSession(), dryRun: true });
    expect(text).toContain('Read first: hub.show_page {"id":"a"}.');
  });

  test("a batch that reads first is not warned", async () => {
    const gateway = open();
    const session = await gateway.openSession();
    const { results } = await gateway.batch({
      session,
      requests: [
        { exec: { op: "onto.task.search", args: { search: "New" } } },
        { exec: { op: "onto.task.create", args: { title: "New" } } },
      ],
    });
    expect(results[1]).toMatchObject({ exec: { ok: true, meta: { warnings: [] } } });
  });
});

type HubTool = readonly [name: string, properties: Record<string, object>, annotations?: object];

/** A domain whose tools have plain names. A property that is `required` has to be there. */
function hubOf(...tools: readonly HubTool[]) {
  return defineDomain({
    name: "hub",
    description: "Pages.",
    tools: tools.map(([name, properties, annotations]) => ({
      name,
      route: `hub://tools/${name}`,
      description: `${name}.`,
      inputSchema: {
        type: "object",
        properties: Object.fromEntries(Object.keys(properties).map((key) => [key, { type: "string" }])),
        required: Object.keys(properties).filter((key) => "required" in properties[key]!),
      },
      ...(annotations && { lane: "destructive" as const }),
      execute: () => "Done",
    })),
  });
}

test("the owner of an API can insist on it too", async () => {
  const operation = (operationId: string) => ({ operationId, description: `${operationId}.`, responses: {} });
  const api = createOpenApiSource("api", {
    document: {
      openapi: "3.1.0",
      info: { title: "Tasks", version: "1" },
      servers: [{ url: "https://tasks.invalid" }],
      paths: { "/tasks": { get: operation("list_tasks"), post: operation("create_task") } },
    },
    readBeforeWrite: "refuse",
  });
  const gateway = open([], { sources: [api] });
  const answer = await gateway.exec({
    op: "api.create_task",
    args: {},
    session: await gateway.openSession(),
  });
  expect(answer).toMatchObject({
    ok: false,
    error: { code: "CONFLICT", details: { read: { op: "api.task.list" } } },
  });
});
