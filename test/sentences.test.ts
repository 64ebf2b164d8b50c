// Every tool and field that a sentence names exists on the surface, and the step it proposes is accepted.
import {
  createGateway,
  createToolbox,
  defineDomain,
  defineResource,
  defineTool,
  type Principal,
} from "keyhole";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { formatMessage, ROLES, rolesIn } from "../src/base/problems/format-message.ts";
import { Problem, problem } from "../src/base/problems/problem.ts";
import { PROBLEMS } from "../src/base/problems/problems.ts";
import { surfaceTools, wordsOf } from "../src/core/surfaces/surface.ts";
import { SURFACES, type Surface } from "../src/core/surfaces/surface-names.ts";

const SPOKEN = SURFACES.filter((surface) => surface !== "native");
const ALL_NAMES = new Set(
  SPOKEN.flatMap((surface) => surfaceTools({ surface, toolSearch: true }).map(({ name }) => name)),
);
const BARE_NAME = new RegExp(`\\b(?:call|use|by|with|in) (${[...ALL_NAMES].join("|")})\\b`, "i");
const writer: Principal = { id: "writer", scopes: [], allowWrite: true };
const reader: Principal = { id: "reader", scopes: [], allowWrite: false };

const fields = Object.fromEntries(
  Array.from({ length: 400 }, (_, index) => [
    `field_${index}`,
    { type: "string", description: "A field of many." },
  ]),
);
const shop = defineDomain({
  name: "shop",
  description: "Orders of a shop.",
  tools: [
    defineTool({ name: "list_orders", description: "List orders.", execute: () => "x".repeat(40_000) }),
    defineTool({
      name: "create_order",
      description: "Create an order.",
      inputSchema: z.object({ customer: z.string() }),
      execute: () => ({ made: true }),
    }),
    defineTool({ name: "delete_order", description: "Delete an order.", execute: () => ({ gone: true }) }),
    defineTool({
      name: "pay_order",
      description: "Pay an order.",
      lane: "write",
      requiresConfirmation: true,
      execute: () => ({ paid: true }),
    }),
    defineTool({
      name: "fill_form",
      op: "shop.form.fill",
      description: "Fill a form.",
      lane: "write",
      inputSchema: { type: "object", properties: fields, required: ["field_7"], additionalProperties: false },
      execute: () => ({ filled: true }),
    }),
  ],
  resources: [
    defineResource({
      route: "shop://resources/guide",
      name: "Guide",
      description: "How orders work.",
      fetch: () => ({ content: "Read me." }),
    }),
  ],
});
const gateway = createGateway({ domains: [shop] });
afterAll(() => gateway.close());

test("problems name tools only by role", () => {
  const named = Object.entries(PROBLEMS).filter(([, { sentence, next }]) =>
    [sentence, next].flat().some((text) => BARE_NAME.test(text)),
  );
  expect(named).toEqual([]);
});

test.each(SURFACES)("on %s every problem names only tools of that surface", (surface) => {
  const words = wordsOf({ surface });
  const own = new Set(surfaceTools({ surface }).map(({ name }) => name));
  for (const role of ROLES) {
    const word = words[role];
    if (word !== undefined && !["params", "dry_run"].includes(role)) expect(own).toContain(word);
  }
  for (const code of Object.keys(PROBLEMS) as (keyof typeof PROBLEMS)[]) {
    const { message, next } = new Problem(code, {}, {}).inWords(words);
    expect(rolesIn(`${message} ${next}`), code).toEqual([]);
  }
});

test("a value that looks like a role is left as it is", () => {
  const words = wordsOf({ surface: "commands" });
  expect(problem("NOT_FOUND", { name: "{exec}" }).inWords(words).message).toBe("{exec} not found.");
  expect(formatMessage({ sentences: "{name} by {exec}", fills: { name: "{get}" } }, words)).toBe(
    "{get} by tool_exec",
  );
});

/** The tools of a surface that run, read and describe, each with its input for an address. */
const STEPS: Readonly<Record<string, (address: string, args?: object) => [tool: string, input: object]>> = {
  lanes: (op, args) => ["exec", { op, args }],
  routes: (route, params) => ["get", { routes: [{ route, params }] }],
  commands: (op, args) => ["tool_exec", { op, args }],
  code: (op, args) => ["run", { code: `return call(${JSON.stringify(op)}, ${JSON.stringify(args ?? {})})` }],
};

const READS: typeof STEPS = {
  ...STEPS,
  lanes: (route, params) => ["get", { routes: [{ route, params }] }],
};

describe.each(SPOKEN)("on %s", (surface) => {
  const names = new Set(surfaceTools({ surface }).map(({ name }) => name));
  const open = (principal: Principal) => createToolbox(gateway, { surface: surface as Surface, principal });

  test.each([
    ["a reader's destructive call", reader, "shop.order.delete", {}],
    ["a reader's write", reader, "shop.order.create", { customer: "c" }],
    ["a call that wants approval", writer, "shop.order.pay", {}],
  ] as const)("%s tells a step that is accepted", async (_name, principal, op, args) => {
    const toolbox = await open(principal);
    const [tool, input] = STEPS[surface]!(op, args);
    const { text } = await toolbox.call(tool, input);
    const step = /Use (\w+) with (\w+): (true|false|"[^"]+")/.exec(text);
    expect(step, text).not.toBeNull();
    const [, named, field, value] = step!;
    expect(names).toContain(named);
    const next = await toolbox.call(named!, { ...input, [field!]: JSON.parse(value!) });
    expect(next.ok, next.text).toBe(true);
    expect(next.text).not.toContain("ignored unknown fields");
  });

  test("the dry run of a read-only caller proposes no step that would be refused", async () => {
    const toolbox = await open(reader);
    const [tool, input] = STEPS[surface]!("shop.order.delete");
    const { ok, text } = await toolbox.call(tool, { ...input, dry_run: true });
    expect(ok).toBe(true);
    expect(text).toContain("This caller may not write");
    expect(text).not.toMatch(/dry_run: false/);
  });

  test("a destructive call that nobody can be asked about names the person, and no way past them", async () => {
    const toolbox = await open(writer);
    const [tool, input] = STEPS[surface]!("shop.order.delete");
    const { ok, text } = await toolbox.call(tool, input);
    expect(ok, text).toBe(true);
    expect(text).toContain("Tell the person");
    expect(text).not.toContain("dry_run");
  });

  test("the tool that an answer names reads a stored result and a document", async () => {
    const toolbox = await open(reader);
    const [tool, input] = STEPS[surface]!("shop.order.list");
    const { text } = await toolbox.call(tool, input);
    if (surface === "code") {
      const [, stored, inside] =
        /at (result:\/\/[\w-]+); read on in run by (get\(handle, \{ path, )/.exec(text) ?? [];
      expect(inside, text).toBeDefined();
      const code = `return get("${stored}", { limit: 1 })`;
      expect((await toolbox.call("run", { code })).ok).toBe(true);
      return;
    }
    const told = /at (result:\/\/[\w-]+); read on by (\w+) with (\w+) /.exec(text);
    expect(told, text).not.toBeNull();
    const [, handle, reads, params] = told!;
    expect(names).toContain(reads);
    const read =
      reads === "tool_exec"
        ? { op: handle, [params!]: { limit: 1 } }
        : { routes: [{ route: handle, [params!]: { limit: 1 } }] };
    const stored = await toolbox.call(reads!, read);
    expect(stored.ok, stored.text).toBe(true);
    expect(stored.text).not.toContain("ignored unknown fields");
    const [loads, document] = STEPS[surface]!("shop://resources/guide");
    expect((await toolbox.call(loads, document)).text).toContain("Read me.");
  });

  test("the error of a tool with 400 fields keeps its budget and names the nearest field", async () => {
    const toolbox = await open(writer);
    const [tool, input] = STEPS[surface]!("shop.form.fill", { fild_99: "x" });
    const { ok, text, data } = await toolbox.call(tool, input);
    expect(ok).toBe(false);
    expect(text).toContain("field_99");
    expect(text).toContain("field_7");
    expect(text.length).toBeLessThan(9_000);
    const { all_details } = (data as { error: { details: { all_details: string } } }).error.details;
    const [reads, rest] = READS[surface]!(all_details, { path: "/schema/properties/field_399" });
    expect((await toolbox.call(reads, rest)).text).toContain("A field of many.");
  });

  test("an unknown address is answered with the nearest addresses and the search tool", async () => {
    const toolbox = await open(writer);
    const [tool, input] = STEPS[surface]!("shop.order.crate");
    const { text } = await toolbox.call(tool, input);
    expect(text).toContain("shop.order.create");
    const finder = /find it with (\w+)/.exec(text)?.[1];
    expect(names).toContain(finder);
  });
});

describe.each([
  ["lanes", { surface: "lanes", run: true }],
  ["code", { surface: "code" }],
] as const)("of a script on %s", (_, surface) => {
  const open = () => createToolbox(gateway, { ...surface, principal: writer });
  const code = "return tools.shop.order.pay({})";

  test("a plan that nobody can approve tells only steps that are accepted", async () => {
    const toolbox = await open();
    const { data } = await toolbox.call("run", { code });
    const { handle } = (data as { plan: { handle: string } }).plan;
    for (const input of [{ code }, { plan: handle }]) {
      const { ok, text } = await toolbox.call("run", input);
      expect(ok).toBe(false);
      const steps = [...text.matchAll(/Use (\w+) with (\w+): (true|false|"[^"]+")/g)];
      expect(steps.length, text).toBeGreaterThan(0);
      for (const [, named, field, value] of steps) {
        const next = await toolbox.call(named!, { ...input, [field!]: JSON.parse(value!) });
        expect(next.ok, next.text).toBe(true);
        expect(next.text).toContain("1. planned shop.order.pay");
      }
      expect(text).toContain(`If a person approves these effects, run performs them with plan: "plan_`);
    }
  });

  test("a script that waits for nothing is told what it can wait for", async () => {
    const toolbox = await open();
    const { text } = await toolbox.call("run", { code: "await new Promise(() => {})" });
    expect(text).toContain("A script can wait only for tools, call, get, ask, help and sleep.");
    expect(text).not.toContain("less at once");
    const { text: slow } = await toolbox.call("run", { code: "await sleep(60_000)", timeoutMs: 100 });
    expect(slow).toContain("Make it do less at once.");
  });
});
