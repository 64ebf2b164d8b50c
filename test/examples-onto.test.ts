import { join } from "node:path";
import { createGateway, type Principal } from "keyhole";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createOnto } from "../examples/onto/onto.ts";
import { verifies } from "./claims.ts";
import { ONTO_OPS } from "./onto-ops.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const editor: Principal = { id: "editor", scopes: [], allowWrite: true };
const onto = createOnto({ now: () => new Date("2026-03-09T10:00:00Z") });
const gateway = createGateway({ domains: onto.domains, principal: editor, learning: false });

beforeEach(() => onto.reset());
afterAll(async () => {
  await gateway.close();
  await onto.close();
});

async function run(op: string, args: Record<string, unknown> = {}, dryRun = false) {
  const answer = await gateway.exec({ op, args, dryRun }, { approve: () => true });
  if (!answer.ok) expect.fail(answer.text);
  return answer.result as Record<string, unknown>;
}

async function refusal(op: string, args: Record<string, unknown>) {
  const answer = await gateway.exec({ op, args }, { approve: () => true });
  if (answer.ok) expect.fail(`${op} ran`);
  expect(answer.error.helpPath).toBe(op);
  return answer.error;
}

async function helpOf(op: string) {
  const help = await gateway.help({ path: op });
  if (help.kind !== "tool") expect.fail(`${op} is no tool`);
  return help;
}

verifies("onto:few-tools", "every surface has at most four tools", async () => {
  for (const surface of ["lanes", "routes", "commands"] as const) {
    expect((await gateway.menu({ surface })).length).toBeLessThanOrEqual(4);
  }
});

verifies("onto:every-op", "the ops match the function names exactly", async () => {
  const ops = Object.values((await gateway.report()).registry.ops).map(({ op, tool_name, lane }) => [
    op,
    tool_name,
    lane,
  ]);
  expect(ops.sort()).toEqual(ONTO_OPS.map(([op, name, lane]) => [op, name, lane]).sort());
});

describe.each(ONTO_OPS)("%s", (op, _name, lane, ...said) => {
  verifies(
    "onto:every-op",
    `${op} runs with each of its examples, and its dry run predicts the change`,
    async () => {
      const { examples = [], args } = await helpOf(op);
      expect(examples.length).toBeGreaterThan(0);
      expect(examples.every(({ note }) => note !== "made from the schema")).toBe(true);
      const known = new Set(args.map(({ name }) => name));
      for (const example of examples) {
        expect(Object.keys(example.args).filter((name) => !known.has(name))).toEqual([]);
        onto.reset();
        const dry = await run(op, example.args, true);
        const real = await run(op, example.args);
        if (lane !== "read") expect(real).toEqual(dry);
      }
    },
  );

  verifies("onto:found", `${op} is among the first five hits for everyday wording`, async () => {
    for (const query of said) {
      const { hits } = await gateway.ask({ query, maxTokens: 5_000 });
      expect(
        hits.slice(0, 5).map((hit) => hit.op),
        query,
      ).toContain(op);
    }
  });

  verifies("onto:help-path", `${op} answers wrong args with a help path`, async () => {
    const { code, details } = await refusal(op, { nonsense: 1 });
    expect(code).toBe("INVALID_PARAMS");
    const fields = details.fieldErrors?.map(({ field }) => field);
    expect(fields).toContain("nonsense");
    expect(details).toHaveProperty("schema");
    expect(details).toHaveProperty("example");
  });
});

verifies("onto:policy", "tasks and projects briefly say when to create them and when not", async () => {
  for (const op of ["onto.task.create", "onto.project.create"]) {
    const { policy } = await helpOf(op);
    const sentences = [policy?.do, policy?.dont, policy?.edgeCases].map((part) => part ?? []);
    expect(sentences.every((part) => part.length > 0)).toBe(true);
    expect(sentences.flat().join(" ").length).toBeLessThan(400);
  }
});

verifies(
  "onto:round-trips",
  "one help call shows every group and is cached, and a first use is one batch",
  async () => {
    const first = await gateway.help({ path: "onto" });
    const again = await gateway.help({ path: "onto" });
    if (first.kind !== "directory" || again.kind !== "directory") expect.fail("no directory");
    const groups = [
      "task",
      "project",
      "document",
      "goal",
      "plan",
      "milestone",
      "risk",
      "requirement",
      "edge",
    ];
    expect(first.groups.map(({ path }) => path)).toEqual(
      expect.arrayContaining(groups.map((group) => `onto.${group}`)),
    );
    expect(first.ops.map(({ op }) => op)).toContain("onto.search");
    expect(again.groups).toBe(first.groups);

    const batch = await gateway.batch({
      requests: [
        { help: { path: "onto.document.tree.move" } },
        { id: "found", exec: { op: "onto.document.search", args: { search: "api spec" } } },
        {
          exec: {
            op: "onto.document.tree.move",
            args: {
              project_id: "prj_atlas",
              document_id: { $result: "found", path: "/documents/0/id" },
              new_parent_id: "doc_engineering",
            },
          },
        },
      ],
    });
    expect(batch.summary).toEqual({ total: 3, succeeded: 3, failed: 0 });
    const { path } = await run("onto.document.path.get", { document_id: "doc_api_spec" });
    expect(path).toMatchObject([{ title: "Engineering" }, { title: "API Spec" }]);
  },
);

verifies(
  "onto:tree-and-relations",
  "cycles and missing parents are refused, and nothing changes",
  async () => {
    const before = await run("onto.document.tree.get", { project_id: "prj_atlas", include_documents: true });
    const move = (document_id: string, new_parent_id: string | null, project_id = "prj_atlas") =>
      refusal("onto.document.tree.move", { project_id, document_id, new_parent_id });
    expect((await move("doc_engineering", "doc_engineering")).code).toBe("CONFLICT");
    expect((await move("doc_engineering", "doc_adr_1")).code).toBe("CONFLICT");
    expect((await move("doc_engineering", "doc_nowhere")).message).toContain("document doc_nowhere");
    expect((await move("doc_engineering", "doc_building")).code).toBe("NOT_FOUND");
    expect((await move("doc_building", null)).message).toContain("doc_building in prj_atlas");
    const lost = { project_id: "prj_atlas", title: "Lost", parent_id: "doc_nowhere" };
    expect((await refusal("onto.document.create", lost)).code).toBe("NOT_FOUND");
    expect(await run("onto.document.tree.get", { project_id: "prj_atlas", include_documents: true })).toEqual(
      before,
    );

    const link = (from_id: string, rel: string, to_id: string) =>
      refusal("onto.edge.link", { from_id, rel, to_id });
    expect((await link("task_rate_limits", "depends_on", "task_review_spec")).code).toBe("CONFLICT");
    expect((await link("task_cache", "mitigates", "goal_launch")).details).toMatchObject({
      fieldErrors: [{ field: "to_id" }],
    });
    expect((await link("task_cache", "references", "task_badges")).code).toBe("INVALID_PARAMS");
    expect((await link("task_cache", "part_of", "plan_nowhere")).code).toBe("NOT_FOUND");
  },
);

verifies(
  "onto:tree-and-relations",
  "the dry run of a reorganization matches the real run exactly",
  async () => {
    const args = {
      project_id: "prj_atlas",
      nodes: [
        { id: "task_load_test", connections: [{ rel: "satisfies", to_id: "req_p99" }] },
        { id: "task_cache", connections: [{ rel: "depends_on", to_id: "task_load_test" }] },
      ],
    };
    const edges = async () =>
      (await run("onto.project.graph.get", { project_id: "prj_atlas" })).edges as object[];
    const before = await edges();
    const dry = await gateway.exec({ op: "onto.project.graph.reorganize", args });
    expect(dry).toMatchObject({ ok: true, meta: { dryRun: true } });
    expect(await edges()).toEqual(before);

    const { adds, removes, keeps } = await run("onto.project.graph.reorganize", args);
    expect(dry.ok && dry.result).toEqual({ adds, removes, keeps });
    expect(removes).toHaveLength(4);
    expect(adds).toMatchObject([{ from_id: "task_cache", rel: "depends_on", to_id: "task_load_test" }]);
    const gone = new Set((removes as { id: string }[]).map(({ id }) => id));
    const expected = [
      ...before.filter((edge) => !gone.has((edge as { id: string }).id)),
      ...(adds as object[]),
    ];
    expect(await edges()).toEqual(expect.arrayContaining(expected));
    expect(await edges()).toHaveLength(expected.length);

    const circle = [{ id: "task_load_test", connections: [{ rel: "depends_on", to_id: "task_cache" }] }];
    const refused = await refusal("onto.project.graph.reorganize", { ...args, nodes: circle });
    expect(refused.code).toBe("CONFLICT");
    expect(await edges()).toHaveLength(expected.length);
  },
);

test("an update of an old version is refused with the current state", async () => {
  await run("onto.risk.update", { risk_id: "risk_capacity", impact: "low", expected_version: 1 });
  const stale = await refusal("onto.risk.update", {
    risk_id: "risk_capacity",
    impact: "critical",
    expected_version: 1,
  });
  expect(stale).toMatchObject({ code: "CONFLICT", details: { current: { version: 2, impact: "low" } } });
  expect(await run("onto.risk.update", { risk_id: "risk_capacity", impact: "low" })).toMatchObject({
    changes: {},
    version: 2,
  });
  expect(await run("onto.risk.get", { risk_id: "risk_capacity" })).toMatchObject({
    impact: "low",
    updated_at: "2026-03-09T10:00:00.000Z",
  });
});

test("a project is created whole or not at all", async () => {
  const goal = { kind: "goal", ref: "g", title: "A goal" };
  const risk = { kind: "risk", ref: "r", title: "A risk", impact: "high" };
  const { project, entities, edges } = await run("onto.project.create", {
    title: "New",
    entities: [goal, risk],
    relationships: [{ from: "r", rel: "threatens", to: "g" }],
  });
  expect(edges).toHaveLength(1);
  const { id } = project as { id: string };
  expect((await run("onto.project.graph.get", { project_id: id })).nodes).toHaveLength(2);
  expect(await run("onto.risk.get", { risk_id: (entities as { r: string }).r })).toMatchObject({
    impact: "high",
  });

  const wrong = {
    title: "Wrong",
    entities: [goal, risk],
    relationships: [{ from: "g", rel: "threatens", to: "r" }],
  };
  expect((await refusal("onto.project.create", wrong)).code).toBe("INVALID_PARAMS");
  expect((await refusal("onto.project.create", { ...wrong, entities: [goal, goal] })).code).toBe(
    "INVALID_PARAMS",
  );
  expect(await run("onto.project.search", { search: "Wrong" })).toMatchObject({ total: 0 });
});

test("a deletion removes the subtree and its edges", async () => {
  const { deletes } = await run("onto.document.delete", { document_id: "doc_marketing" });
  expect(deletes).toHaveLength(3);
  expect((await refusal("onto.document.get", { document_id: "doc_api_spec" })).code).toBe("NOT_FOUND");
  expect(await run("onto.task.docs.list", { task_id: "task_rate_limits" })).toEqual({ documents: [] });
});

test("an unknown project is an error, not an empty project", async () => {
  expect((await refusal("onto.task.list", { project_id: "prj_nowhere" })).code).toBe("NOT_FOUND");
  expect((await refusal("onto.search", { search: "a", project_id: "prj_nowhere" })).code).toBe("NOT_FOUND");
});

test("search ignores case in every alphabet", async () => {
  await run("onto.goal.create", { project_id: "prj_atlas", title: "Prüfung der ÜBERSICHT" });
  expect(await run("onto.search", { search: "übersicht PRÜFUNG" })).toMatchObject({ total: 1 });
});

test("hostile input is treated as plain text", async () => {
  for (const search of ["constructor", "__proto__", "%", "' OR 1=1 --", "\u0000"]) {
    expect(await run("onto.search", { search })).toEqual({ total: 0, entities: [] });
  }
  expect((await refusal("util.schema.field_info", { kind: "task", field: "constructor" })).code).toBe(
    "NOT_FOUND",
  );
});

test("every step that guidance offers runs as given", async () => {
  const overview = await gateway.exec({ op: "util.buildos.overview" });
  const task = await gateway.exec({ op: "onto.task.get", args: { task_id: "task_cache" } });
  const steps = [overview, task].flatMap((answer) => (answer.ok ? (answer.guidance ?? []) : []));
  expect(steps.length).toBeGreaterThan(5);
  for (const { route, params } of steps) await run(route, { ...params });
});

test("web tools reach one site, through the guarded fetch", async () => {
  const { results } = await run("util.web.search", { query: "soil sensors water" });
  const { url } = (results as { url: string }[])[0]!;
  const page = await run("util.web.visit", { url });
  expect(page).toMatchObject({ title: "Soil sensors and irrigation: a review", more: false });
  expect(page.text).toContain("where x < 40 cm");
  expect((await refusal("util.web.visit", { url: "/nowhere" })).code).toBe("NOT_FOUND");
  for (const other of ["http://127.0.0.1:9/", "http://169.254.169.254/", "file:///etc/passwd"]) {
    expect((await refusal("util.web.visit", { url: other })).code).toBe("REQUEST_REFUSED");
  }
});

test("a file keeps changes until it is reset", async () => {
  const path = join(temporaryFolder(), "onto.db");
  const titleOf = async (change?: string) => {
    const system = createOnto({ path });
    const own = createGateway({ domains: system.domains, principal: editor, learning: false });
    if (change) await own.exec({ op: "onto.goal.update", args: { goal_id: "goal_launch", title: change } });
    if (change === "reset") system.reset();
    const answer = await own.exec({ op: "onto.goal.get", args: { goal_id: "goal_launch" } });
    await own.close();
    await system.close();
    return answer.ok && (answer.result as { title: string }).title;
  };
  expect(await titleOf("Changed")).toBe("Changed");
  expect(await titleOf()).toBe("Changed");
  expect(await titleOf("reset")).toBe("Launch the public API");
});
