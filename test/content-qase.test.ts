import type { QaseSourceOptions } from "keyhole/sources";
import { expect, onTestFinished, test } from "vitest";
import { createQaseSuiteFormat } from "../src/sources/content/formats/qase-suite-format.ts";
import { createQaseSource } from "../src/sources/content/sources/qase-source.ts";
import { describeFaults } from "./content-faults.ts";
import { nodesOf, type Reply, serve, testClock } from "./content-kit.ts";
import { startLoopbackApi } from "./loopback-api.ts";

const TOKEN = "qase_secret_0123456789";
const suites = [suiteOf(1, "Checkout"), suiteOf(2, "Login")];
const cases = Array.from({ length: 150 }, (_, index) =>
  caseOf(index + 1, index < 148 ? 1 : index === 148 ? 2 : null),
);

describeFaults("Qase", {
  open: (options) => open(options),
  answer: () => serve(qase(cases)),
  secret: TOKEN,
});

test("Qase: reads one document per suite, with all pages of its cases", async () => {
  const { api, source } = await start();
  const documents = await source.listDocuments();
  expect(documents.map(({ id, name }) => [id, name])).toEqual([
    ["suite:1", "Checkout"],
    ["suite:2", "Login"],
    ["suite:0", "Without a suite"],
  ]);
  expect(api.seen[0]?.headers.token).toBe(TOKEN);
  expect(api.seen.map(({ url }) => url)).toContain("/case/SHOP?limit=100&offset=100");
  for (const document of documents) {
    expect(await source.fetchContent(document.id)).toMatchObject({ version: document.version });
  }
  const nodes = await nodesOf(source, [createQaseSuiteFormat()], "tests");
  expect(nodes.filter(({ metadata }) => metadata?.resource_type === "case")).toHaveLength(150);
  const one = nodes.find(({ path }) => path === "tests/suites/1/cases/7");
  expect(one).toMatchObject({
    name: "Case 7 pays",
    description: "A card is charged.",
    metadata: { resource_type: "case", path_segment: "tests", suite: "Checkout", case_id: 7 },
  });
  expect(one?.content).toContain("1. Press pay (with a card) -> It is paid");
  const suite = nodes.find(({ path }) => path === "tests/suites/1");
  expect(suite?.content).toContain("Case 148 pays");
  expect(suite?.metadata).toMatchObject({ resource_type: "suite", cases: 148 });
});

test("Qase: a changed case changes the version of its suite only", async () => {
  const { api, source } = await start();
  const before = await source.listDocuments();
  api.answer = serve(qase(cases.map((one) => (one.id === 3 ? { ...one, title: "Renamed" } : one))));
  const after = await source.listDocuments();
  expect(after.map(({ version }, index) => version === before[index]?.version)).toEqual([false, true, true]);
});

test("Qase: an incomplete listing is a failure", async () => {
  const { api, source } = await start();
  api.answer = serve(() => ({
    value: { status: true, result: { total: 5, filtered: 5, count: 0, entities: [] } },
  }));
  await expect(source.listDocuments()).rejects.toMatchObject({ code: "SOURCE_INVALID" });
});

test("Qase: an error in an answer with status 200 is reported", async () => {
  const { api, source } = await start();
  api.answer = serve(() => ({ value: { status: false, errorMessage: "Project is not found" } }));
  await expect(source.listDocuments()).rejects.toThrow("Project is not found");
});

function open(options: Partial<QaseSourceOptions>) {
  return createQaseSource({ project: "SHOP", token: TOKEN, ...options });
}

async function start() {
  const api = await startLoopbackApi();
  onTestFinished(() => api.close());
  api.answer = serve(qase(cases));
  return { api, source: open({ baseUrl: api.url, allowPrivateHosts: [api.host], clock: testClock() }) };
}

function qase(all: typeof cases): (url: URL) => Reply | undefined {
  return ({ pathname, searchParams }) => {
    const suite = suites.find(({ id }) => pathname === `/suite/SHOP/${id}`);
    if (suite) return { value: { status: true, result: suite } };
    const suiteId = searchParams.get("suite_id");
    const filtered = suiteId ? all.filter((one) => String(one.suite_id) === suiteId) : all;
    if (pathname === "/case/SHOP") return pageOf(filtered, all.length, searchParams);
    return pathname === "/suite/SHOP" ? pageOf(suites, suites.length, searchParams) : undefined;
  };
}

function pageOf(filtered: readonly unknown[], total: number, query: URLSearchParams): Reply {
  const offset = Number(query.get("offset"));
  const entities = filtered.slice(offset, offset + Number(query.get("limit")));
  return {
    value: { status: true, result: { total, filtered: filtered.length, count: entities.length, entities } },
  };
}

function suiteOf(id: number, title: string) {
  return {
    id,
    title,
    description: `All about ${title}.`,
    preconditions: "A customer exists",
    position: id,
    cases_count: 3,
    parent_id: null,
    created_at: "2026-01-01T00:00:00+00:00",
    updated_at: "2026-01-01T00:00:00+00:00",
  };
}

function caseOf(id: number, suite_id: number | null) {
  return {
    id,
    position: id,
    title: `Case ${id} pays`,
    description: "A card is charged. Twice is wrong.",
    preconditions: "There is a cart",
    postconditions: null,
    severity: 2,
    priority: 1,
    type: 1,
    automation: 0,
    suite_id,
    steps: [{ hash: "h", position: 1, action: "Press pay", expected_result: "It is paid", data: "a card" }],
    tags: [{ title: "money", internal_id: 1 }],
    updated_at: "2026-01-01T00:00:00+00:00",
  };
}
