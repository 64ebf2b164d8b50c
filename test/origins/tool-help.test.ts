// Walks the document about tool help: its operations, commands, envelopes and rules, as they are written.
import { resolve } from "node:path";
import {
  type CallOptions,
  createToolbox,
  defineDomain,
  defineResource,
  defineTool,
  loadTokenCounter,
} from "keyhole";
import { createOpenApiSource, fromMcpConfig } from "keyhole/sources";
import { describe, expect, test } from "vitest";
import {
  COMMANDS,
  CREATE_TASK,
  ONTOLOGY_READ_TOOLS,
  ONTOLOGY_WRITE_TOOLS,
  open,
  UTILITY_TOOL_DEFINITIONS,
} from "./tool-help-registry.ts";

const countTokens = await loadTokenCounter();
const POLICY = {
  do: [
    "User explicitly asks to create a task",
    "Future human action required",
    "Prefer onto.task.update over a second task",
  ],
  dont: ["Research/analysis requests you can do now", "Creating tasks to look helpful"],
  edgeCases: ["If ambiguous, ask 1 clarifying question or proceed without creating"],
};

async function helpOf(path: string, gateway = open()) {
  const answer = await gateway.help({ path, format: "short" });
  if (answer.kind === "directory") throw answer;
  return answer;
}

/** The answer of `tool_exec` as the document's JSON. */
async function execJson(input: object, options?: CallOptions) {
  const toolbox = await createToolbox(open(), { surface: "commands" });
  return (await toolbox.call("tool_exec", input, options)).data;
}

async function directoryOf(path: string, gateway = open()) {
  const answer = await gateway.help({ path, format: "short" });
  if (answer.kind !== "directory") throw answer;
  return answer;
}

describe("registry generation", () => {
  test("every op of the command taxonomy is there under its function, with its kind, and runs", async () => {
    const gateway = open();
    const { ops, registry_version } = (await gateway.report()).registry;
    expect(registry_version).toBe(gateway.version);
    for (const [kind, commands] of Object.entries(COMMANDS)) {
      for (const [op, tool_name] of Object.entries(commands)) {
        expect(ops[op], op).toMatchObject({
          op,
          tool_name,
          description: expect.any(String),
          parameters_schema: { type: "object" },
          group: op.split(".")[0],
          kind,
        });
        const answer = await gateway.exec({ op, args: anyArgs(ops[op]!.parameters_schema), dryRun: true });
        expect(answer.ok, answer.text).toBe(true);
      }
    }
    expect(ops["onto.task.list"]).toMatchObject({ entity: "task", action: "list" });
  });

  test("the lists of chat tools become the document's ops, by name or by its special cases", async () => {
    const { ops } = (await open().report()).registry;
    const names = Object.fromEntries(Object.values(ops).map(({ op, tool_name }) => [op, tool_name]));
    expect(Object.keys(names)).toHaveLength(
      ONTOLOGY_READ_TOOLS.length + ONTOLOGY_WRITE_TOOLS.length + UTILITY_TOOL_DEFINITIONS.length,
    );
    expect(names).toMatchObject({
      "onto.task.list": "list_onto_tasks",
      "onto.task.search": "search_onto_tasks",
      "onto.task.get": "get_onto_task_details",
      "onto.search": "search_ontology",
      "onto.document.tree.get": "get_document_tree",
      "onto.document.tree.move": "move_document_in_tree",
      "onto.document.path.get": "get_document_path",
      "onto.entity.relationships.get": "get_entity_relationships",
      "onto.entity.links.get": "get_linked_entities",
      "onto.task.docs.list": "list_task_documents",
      "onto.task.doc.create_or_attach": "create_task_document",
      "onto.edge.link": "link_onto_entities",
      "onto.edge.unlink": "unlink_onto_edge",
      "onto.project.graph.get": "get_onto_project_graph",
      "onto.project.graph.reorganize": "reorganize_onto_project_graph",
      "util.schema.field_info": "get_field_info",
      "util.web.search": "web_search",
      "util.web.visit": "web_visit",
      "util.buildos.overview": "get_buildos_overview",
      "util.buildos.usage_guide": "get_buildos_usage_guide",
    });
  });

  test("ops are classified as read or write; a name that tells nothing writes", async () => {
    const gateway = open();
    const laneOf = async (path: string) => (await helpOf(path, gateway)).lane;
    expect(await laneOf("onto.task.list")).toBe("read");
    expect(await laneOf("onto.task.create")).toBe("write");
    expect(await laneOf("onto.task.delete")).toBe("destructive");
    expect(await laneOf("onto.edge.link")).toBe("write");
    expect(await laneOf("util.web.search")).toBe("read");
  });

  /** An argument for each required property, all of which are texts in the document. */
  function anyArgs(schema: Readonly<Record<string, unknown>>): Record<string, string> {
    return Object.fromEntries(((schema.required ?? []) as string[]).map((name) => [name, "x"]));
  }
});

describe("tool.help", () => {
  test('"" and "root" show the groups, all of them', async () => {
    const gateway = open();
    const root = await directoryOf("", gateway);
    expect(root).toEqual(await directoryOf("root", gateway));
    expect(root.groups.map(({ path }) => path)).toEqual(["onto", "util"]);
    expect(root.groups[0]?.names).toEqual(
      expect.arrayContaining(
        "task project document goal plan milestone risk requirement edge entity search".split(" "),
      ),
    );
  });

  test("a directory is complete in one call, on every surface, documents included", async () => {
    const groups = Array.from({ length: 20 }, (_, at) => `area${at}`);
    const domain = defineDomain({
      name: "big",
      description: "Many groups.",
      tools: groups.map((group) =>
        defineTool({ name: group, op: `big.${group}.list`, description: "List.", execute: () => group }),
      ),
      resources: [
        defineResource({
          route: "big://resources/guides/start",
          name: "Start",
          description: "How to start.",
          fetch: () => ({ content: "Begin here." }),
        }),
      ],
    });
    const gateway = open([domain]);
    for (const surface of ["lanes", "commands"] as const) {
      const toolbox = await createToolbox(gateway, { surface });
      const name = surface === "commands" ? "tool_help" : "help";
      for (const path of ["", "big"]) {
        const { text } = await toolbox.call(name, { path });
        for (const group of [...groups, "resources"]) expect(text, `${surface} ${path}`).toContain(group);
      }
      const documents = await toolbox.call(name, { path: "big.resources" });
      expect(documents.text).toContain("guides");
      expect((await toolbox.call(name, { path: "big.resources.guides" })).text).toContain("start");
    }
    const commands = await createToolbox(gateway, { surface: "commands" });
    const read = await commands.call("tool_exec", { op: "big.resources.guides.start" });
    expect(read.text).toContain("Begin here.");
  });

  test.each([
    ["onto.task", ["onto.task.create", "onto.task.get", "onto.task.list", "onto.task.search"]],
    ["onto.task.read", ["onto.task.get", "onto.task.list", "onto.task.search"]],
    ["onto.task.write", ["onto.task.create", "onto.task.delete", "onto.task.update"]],
    ["util.web", ["util.web.search", "util.web.visit"]],
  ])("%s shows its commands", async (path, ops) => {
    const listed = (await directoryOf(path)).ops.map(({ op }) => op);
    expect(listed).toEqual(expect.arrayContaining(ops));
    if (path.endsWith(".read")) expect(listed).not.toContain("onto.task.create");
    if (path.endsWith(".write")) expect(listed).not.toContain("onto.task.list");
  });

  test('help("onto.task.update", format="short") has summary, usage, args, notes and an example', async () => {
    const help = await helpOf("onto.task.update");
    expect(help).toMatchObject({
      summary: "Update a task.",
      usage: "onto.task.update(task_id: string, title?: string)",
      args: [
        { name: "task_id", type: "string", required: true },
        { name: "title", type: "string", required: false },
      ],
      notes: expect.any(Array),
      examples: [expect.anything()],
    });
  });

  test("answers are the same for the same registry version, path and format", async () => {
    const gateway = open();
    expect(await helpOf("onto.task.get", gateway)).toEqual(await helpOf("onto.task.get", gateway));
    expect((await helpOf("onto.task.get", gateway)).version).toBe(gateway.version);
  });

  test("the session keeps which help was read", async () => {
    const gateway = open();
    const session = await gateway.openSession();
    await gateway.help({ path: "onto.document.tree.move", format: "short", session });
    expect((await gateway.session(session)).memory.discoveredTools).toEqual(["onto.document.tree.move"]);
  });
});

describe("policies", () => {
  test("create_onto_task and create_onto_project have a compact policy in help", async () => {
    const gateway = open();
    const task = await helpOf("onto.task.create", gateway);
    expect(task.policy).toEqual(POLICY);
    expect(countTokens(task.text)).toBeLessThan(220);
    expect((await helpOf("onto.project.create", gateway)).policy).toEqual({
      do: ["When the user starts something new"],
      dont: ["Create a project for a single task"],
    });
    expect((await helpOf("onto.goal.create", gateway)).policy).toBeUndefined();
  });

  test("the same from code, an MCP server and an OpenAPI document", async () => {
    const code = defineDomain({
      name: "code",
      description: "Code.",
      tools: [{ name: "create_task", description: CREATE_TASK, execute: () => "" }],
    });
    const command = process.execPath;
    const server = {
      command,
      args: [resolve("test/origins/tool-help-server.ts")],
      env: { DESCRIPTION: CREATE_TASK },
    };
    const upstreams = fromMcpConfig({ mcpServers: { mcp: server } }, { trusted: true });
    const api = createOpenApiSource("api", {
      document: {
        openapi: "3.1.0",
        info: { title: "Tasks", version: "1" },
        servers: [{ url: "https://tasks.example" }],
        paths: {
          "/tasks": { post: { operationId: "create_task", description: CREATE_TASK, responses: {} } },
        },
      },
    });
    const gateway = open([code], { sources: [...upstreams, api] });
    for (const path of ["code.task.create", "mcp.create_task", "api.create_task"]) {
      expect((await helpOf(path, gateway)).policy, path).toEqual(POLICY);
    }
  });

  test("an author's own policy stands", async () => {
    const tool = defineTool({
      name: "create_task",
      description: CREATE_TASK,
      policy: { do: ["Ask first"] },
      execute: () => "",
    });
    const gateway = open([defineDomain({ name: "own", description: "Own.", tools: [tool] })]);
    expect((await helpOf("own.task.create", gateway)).policy).toEqual({ do: ["Ask first"] });
  });

  test("the most important dont is in the hit of ask, and costs little", async () => {
    const { hits, text } = await open().ask({ query: "create a task", limit: 1 });
    expect(hits[0]).toMatchObject({ op: "onto.task.create", dont: POLICY.dont[0] });
    expect(text).toContain("Do not: Research/analysis requests you can do now");
    expect(text).not.toContain(POLICY.dont[1]);
    expect(countTokens(text)).toBeLessThan(90);
  });
});

describe("tool.exec", () => {
  test("answers in the document's envelope", async () => {
    const answer = await execJson({ op: "onto.task.list", args: {} });
    expect(answer).toMatchObject({
      op: "onto.task.list",
      ok: true,
      result: { items: [{ id: "task_1" }, { id: "task_2" }] },
      meta: {
        trace_id: expect.stringMatching(/^tr_/),
        latency_ms: expect.any(Number),
        warnings: [],
      },
    });
  });

  test("a wrong argument is answered with the fields, the nearest name and help_path", async () => {
    const answer = await execJson({ op: "onto.task.update", args: { taskid: "task_1" } });
    expect(answer).toMatchObject({
      op: "onto.task.update",
      ok: false,
      error: {
        code: "INVALID_PARAMS",
        details: {
          field_errors: [{ field: "task_id", message: expect.stringContaining('"taskid" to "task_id"') }],
        },
        help_path: "onto.task.update",
      },
    });
  });

  test.each([
    ["onto.project.graph.reorganize", { project_id: "p" }],
    ["onto.task.delete", { task_id: "task_1" }],
  ])("%s runs dry until a person has approved it", async (op, args) => {
    const gateway = open();
    const dry = await gateway.exec({ op, args });
    expect(dry).toMatchObject({ ok: true, result: { simulated: true, would_call: op, args } });
    expect(dry.text).toContain("runs only after a person has approved this exact call");
    const applied = await gateway.exec({ op, args }, { approve: () => true });
    expect(applied.ok && applied.result).not.toHaveProperty("simulated");
  });

  test("every error has a help path", async () => {
    const nobody = { principal: { id: "nobody", scopes: [], allowWrite: false } };
    const answers = [
      await execJson({ op: "onto.task.nothing", args: {} }),
      await execJson({ op: "onto.task.create", args: { title: "x" } }, nobody),
      await execJson({ op: "", args: {} }),
    ];
    expect(answers).toMatchObject([
      { error: { code: "NOT_FOUND", help_path: "onto.task" } },
      { error: { code: "PERMISSION_DENIED", help_path: "onto.task.create" } },
      { error: { help_path: "root" } },
    ]);
  });
});

describe("spellings", () => {
  test("tool.help, tool.exec and tool.batch are accepted in code", async () => {
    const gateway = open();
    const help = await gateway.call("tool.help", { path: "onto.task", format: "short" });
    expect(help.text).toBe((await gateway.help({ path: "onto.task" })).text);
    const run = await gateway.call("tool.exec", { op: "onto.task.list", args: {} });
    expect(run).toMatchObject({ ok: true, op: "onto.task.list" });
    const both = await gateway.call("tool.batch", {
      requests: [
        { help: { path: "onto.task.list", format: "short" } },
        { exec: { op: "onto.task.list", args: {} } },
      ],
    });
    expect(both).toMatchObject({ ok: true, summary: { total: 2, succeeded: 2 } });
  });

  test("a toolbox accepts them too, on every surface that has the operation", async () => {
    const gateway = open();
    for (const surface of ["commands", "lanes"] as const) {
      const toolbox = await createToolbox(gateway, { surface });
      expect(toolbox.tools.length).toBeLessThanOrEqual(4);
      expect(await toolbox.call("tool.help", { path: "onto" })).toMatchObject({ ok: true });
      const run = await toolbox.call("tool.exec", { op: "onto.task.list", args: {} });
      expect(run).toMatchObject({ ok: true });
    }
    const lanes = await createToolbox(gateway, { surface: "lanes" });
    expect(await lanes.call("tool.batch", { requests: [] })).toMatchObject({ ok: false });
  });
});

describe("the concrete example", () => {
  test("move the API Spec under Engineering", async () => {
    const gateway = open();
    const session = await gateway.openSession();
    const exec = async (op: string, args: Record<string, unknown>) => {
      const answer = await gateway.exec({ op, args, session });
      if (!answer.ok) throw new Error(answer.text);
      return answer;
    };
    const found = await exec("onto.document.search", { search: "API Spec", limit: 10 });
    expect(found.result).toMatchObject({ items: [{ id: "doc_api" }] });
    expect(await helpOf("onto.document.tree.move", gateway)).toMatchObject({ lane: "write" });
    await exec("onto.document.tree.get", { project_id: "p", include_documents: true });
    const moved = await exec("onto.document.tree.move", {
      project_id: "p",
      document_id: "doc_api",
      new_parent_id: "doc_engineering_folder",
    });
    expect(moved.meta.warnings).toEqual([]);
  });
});

test("the commands surface names tools by op in tool_search, as help and errors do", async () => {
  const gateway = open();
  const toolbox = await createToolbox(gateway, { surface: "commands", toolSearch: true });
  const search = async (query: string) => (await toolbox.call("tool_search", { query })).text;
  const found = await search("list the tasks of a project");
  expect(found).toMatch(/^- onto\.task\.list\(/m);
  expect(found).not.toContain("onto://tools");
  const misspelt = await search("onto.task.lst");
  expect(misspelt).toContain("onto.task.list");
  expect(misspelt).not.toContain("onto://tools");
  const [op = ""] = /onto\.[\w.]+/.exec(found) ?? [];
  expect((await toolbox.call("tool_exec", { op, args: {} })).text).not.toContain("onto://tools");
  expect((await gateway.ask({ query: "list the tasks of a project" })).text).toContain(
    "onto://tools/task/list",
  );
});
