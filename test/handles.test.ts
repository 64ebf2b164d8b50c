import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import {
  type CallOptions,
  createGateway,
  createToolbox,
  defineDomain,
  defineTool,
  type ToolboxOptions,
} from "keyhole";
import { expect, test } from "vitest";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";
import { verifies } from "./claims.ts";

const countTokens = await loadTokenCounter();

type Params = Record<string, unknown>;
interface Left {
  readonly params: Params;
  readonly unit: "items" | "fields" | "lines" | "chars";
  readonly of: number;
}
interface Shown {
  readonly content: unknown;
  readonly left: readonly Left[];
  readonly handle: string | undefined;
  readonly text: string;
}
type Surface = NonNullable<ToolboxOptions["surface"]>;

let current: unknown;
const big = defineTool({ name: "big", description: "Gives a large result.", execute: () => current });
const gateway = createGateway({
  domains: [defineDomain({ name: "lab", description: "For tests.", tools: [big] })],
});

/** Calls an address as a model does on a surface. */
async function caller(value: unknown, surface: Surface, limits: CallOptions["limits"] = {}) {
  current = value;
  const toolbox = await createToolbox(gateway, { surface });
  return async (address: string, params: Params = {}): Promise<Shown> => {
    const isExec = surface === "commands";
    const { ok, text, data } = isExec
      ? await toolbox.call("tool_exec", { op: address, args: params }, { limits })
      : await toolbox.call("get", { routes: [{ route: address, params }] }, { limits });
    if (!ok) throw new Error(text);
    const answer = data as {
      result: unknown;
      meta: { stored?: { handle: string; left: Left[] } };
      results: { data: { content: unknown; stored?: { handle: string; left: Left[] } } }[];
    };
    const content = isExec ? answer.result : answer.results[0]!.data.content;
    const stored = isExec ? answer.meta.stored : answer.results[0]!.data.stored;
    return { content, left: stored?.left ?? [], handle: stored?.handle, text };
  };
}

/** Reads a value whole by doing what each answer says. */
async function readWhole(
  read: (params: Params) => Promise<Shown>,
  params: Params,
  first?: Shown,
): Promise<unknown> {
  const page = first ?? (await read(params));
  const { path = "" } = params as { path?: string };
  const here = page.left.filter((left) => (left.params.path ?? "") === path);
  const [own] = here;
  const offset = Number(params.offset ?? 0);
  const asText = here.find(({ unit }) => unit === "chars");
  // If too many parts are left to name them all, the whole value can be read as text.
  if (asText && typeof page.content !== "string") {
    return from(JSON.parse(await readText(read, asText.params)), offset);
  }
  if (typeof page.content === "string") {
    if (!own) return page.content;
    const rest = (await readWhole(read, own.params)) as string;
    return `${page.content}${own.unit === "lines" ? "\n" : ""}${rest}`;
  }
  if (page.content === null || typeof page.content !== "object") return page.content;
  const inside = new Set(
    page.left
      .filter((left) => left !== own)
      .map((left) => String(left.params.path).slice(path.length).split("/")[1]!),
  );
  const parts = new Map<string, unknown>(
    Object.entries(page.content).map(([key, part]) => [
      Array.isArray(page.content) ? String(Number(key) + offset) : key,
      part,
    ]),
  );
  for (const escaped of inside) {
    const key = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    parts.set(key, await readWhole(read, { path: `${path}/${escaped}` }));
  }
  const rest = own ? await readWhole(read, own.params) : undefined;
  if (Array.isArray(page.content)) return [...parts.values(), ...((rest as unknown[]) ?? [])];
  return Object.fromEntries([...parts, ...Object.entries((rest as object) ?? {})]);
}

/** The items or fields of a value from an offset on. */
function from(value: unknown, offset: number): unknown {
  if (Array.isArray(value)) return value.slice(offset);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).slice(offset));
}

async function readText(read: (params: Params) => Promise<Shown>, params: Params): Promise<string> {
  const { content, left } = await read(params);
  const [next] = left;
  return `${content}${next ? await readText(read, next.params) : ""}`;
}

const long = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.toWellFormed()),
  fc
    .tuple(fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }), fc.nat(400))
    .map(([unit, times]) => unit.repeat(times)),
  fc.array(fc.string({ maxLength: 40 }), { maxLength: 50 }).map((lines) => lines.join("\n")),
);
const key = fc.oneof(
  { weight: 8, arbitrary: fc.string({ maxLength: 8 }) },
  fc.constantFrom("__proto__", "constructor", "a/b", "~1", "", "0", "path"),
  fc.string({ minLength: 300, maxLength: 900 }),
);
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    long,
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 12 }),
    fc.array(fc.record({ id: fc.nat(), name: fc.string(), tags: fc.array(fc.string()) }), { maxLength: 60 }),
    fc.dictionary(key, tie("value"), { maxKeys: 12 }),
  ),
})).value;

const BUDGETS = [150, 300, 800];

verifies(
  "results:nothing-lost",
  "any value is read back whole within the budget on every surface",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        anything,
        fc.constantFrom<Surface>("lanes", "routes", "commands"),
        fc.constantFrom(...BUDGETS),
        async (given, surface, resultTokens) => {
          const value = JSON.parse(JSON.stringify(given)) as unknown;
          const call = await caller(value, surface, { resultTokens });
          const within = async (address: string, params: Params = {}) => {
            const shown = await call(address, params);
            expect(countTokens(shown.text)).toBeLessThanOrEqual(resultTokens + 40);
            // A model reads the text alone, so every next step is in it, before the content.
            const note = shown.text.slice(0, shown.text.indexOf("]\n"));
            for (const left of shown.left) expect(note).toContain(JSON.stringify(left.params).slice(0, -1));
            return shown;
          };
          const first = await within("lab.big");
          const whole = first.handle
            ? await readWhole((params) => within(first.handle!, params), {}, first)
            : first.content;
          expect(isDeepStrictEqual(whole, value)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  },
);

test("a line of 50,000 characters is read to its end by the offsets that the notes say", async () => {
  const words = Array.from({ length: 9_000 }, (_, at) => `w${at}`).join(" ");
  const call = await caller(words, "lanes", {});
  let page = await call("lab.big");
  const { handle } = page;
  let read = String(page.content);
  for (let pages = 0; page.left.length > 0; pages++) {
    expect(pages).toBeLessThan(30);
    const told = /\{"offset":(\d+),"unit":"chars"\} \(of (\d+) chars\)/.exec(page.text);
    expect(Number(told?.[2])).toBe(words.length);
    // The offset alone is enough where a text has fewer lines.
    page = await call(handle!, { offset: Number(told?.[1]) });
    read += page.content;
  }
  expect(read).toBe(words);
});

const row = fc.record(
  {
    id: fc.nat(500),
    status: fc.constantFrom("open", "closed", "on hold, maybe"),
    price: fc.oneof(fc.integer(), fc.constant(null)),
    owner: fc.record({ name: fc.string({ maxLength: 12 }) }),
  },
  { requiredKeys: ["id", "status", "owner"] },
);
type Row = { id: number; status: string; price?: number | null; owner: { name: string } };
const fieldOf = (one: Row, name: string) =>
  name === "owner.name" ? one.owner.name : (one as unknown as Record<string, unknown>)[name];

verifies("results:answered", "rows are read back with every option, page by page", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 120 }),
      fc.record(
        {
          sort: fc
            .tuple(fc.constantFrom("", "-"), fc.constantFrom("id", "status"))
            .map((parts) => parts.join("")),
          select: fc.uniqueArray(fc.constantFrom("id", "status", "owner.name"), { minLength: 1 }),
          grep: fc.constantFrom("open", "CLOSED", "hold, maybe"),
        },
        { requiredKeys: [] },
      ),
      fc.constantFrom<Surface>("lanes", "routes", "commands"),
      fc.boolean(),
      async (given, options, surface, isWrapped) => {
        const rows = JSON.parse(JSON.stringify(given)) as Row[];
        // The filler keeps the result too large to show.
        const filler = "x ".repeat(2_000);
        const call = await caller(
          isWrapped ? { total: rows.length, rows, filler } : { rows, filler },
          surface,
          {
            resultTokens: 200,
          },
        );
        const { handle } = await call("lab.big");
        const path = "sort" in options || "select" in options ? {} : { path: "/rows" };
        let expected = rows.filter((one) =>
          JSON.stringify(one)
            .toLowerCase()
            .includes((options.grep ?? "").toLowerCase()),
        );
        const order = options.sort?.replace("-", "");
        if (order) {
          const sign = options.sort?.startsWith("-") ? -1 : 1;
          expected = expected.toSorted((one, other) => {
            const [left, right] = [fieldOf(one, order) as string, fieldOf(other, order) as string];
            return sign * (left < right ? -1 : left > right ? 1 : 0);
          });
        }
        const picked = options.select
          ? expected.map((one) =>
              Object.fromEntries(options.select!.map((name) => [name, fieldOf(one, name)])),
            )
          : expected;
        if (picked.length === 0) return;
        const items: unknown[] = [];
        for (let params: Params | undefined = { ...path, ...options }; params; ) {
          const page = await call(handle!, params);
          items.push(...(page.content as unknown[]));
          params = page.left.find(({ unit }) => unit === "items")?.params;
        }
        expect(items).toEqual(JSON.parse(JSON.stringify(picked)));
        const counted = await call(handle!, { ...path, ...options, count: true });
        expect(counted.content).toEqual({ count: picked.length });
      },
    ),
    { numRuns: 40 },
  );
});

test("group counts rows by a field, the most frequent first, and says so in few tokens", async () => {
  const rows = Array.from({ length: 2_000 }, (_, id) => ({
    id,
    status: id % 4 === 0 ? "open" : "closed",
    note: "n".repeat(40),
  }));
  const call = await caller({ rows }, "lanes");
  const { handle } = await call("lab.big");
  const { content, text } = await call(handle!, { group: "status" });
  expect(content).toEqual([
    { status: "closed", count: 1_500 },
    { status: "open", count: 500 },
  ]);
  expect(countTokens(text)).toBeLessThan(60);
});

test.each([
  [{ sort: "stauts" }, "nearest: status"],
  [{ group: "owner.nmae" }, "nearest: owner.name"],
  [{ select: "id, pirce" }, "nearest: price"],
  [{ path: "/rwos" }, "nearest: rows"],
  [{ gropu: "status" }, "nearest: group"],
])("%j names the nearest field", async (params, hint) => {
  const rows = Array.from({ length: 2_000 }, (_, id) => ({
    id,
    status: "open",
    price: 1,
    owner: { name: "Ada" },
  }));
  const call = await caller({ rows }, "lanes");
  const { handle } = await call("lab.big");
  await expect(call(handle!, params)).rejects.toThrow(hint);
});

test("options are taken as models send them", async () => {
  const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, status: "open" }));
  const call = await caller({ rows }, "lanes");
  const { handle } = await call("lab.big");
  const { content } = await call(handle!, {
    fields: "id",
    sort: "id desc",
    limit: "2",
    offset: null,
    grep: "",
  });
  expect(content).toEqual([{ id: 1_999 }, { id: 1_998 }]);
  expect((await call(handle!, { path: "/rows", count: "true" })).content).toEqual({ count: 2_000 });
  expect((await call(handle!, { path: "/rows", limit: 0, offset: -3 })).content).toEqual([
    { id: 0, status: "open" },
  ]);
});

test("grep shows a match with its surroundings, and the place to read on from", async () => {
  const text = `${"a".repeat(30_000)} the needle is here ${"b".repeat(30_000)}`;
  const call = await caller(
    {
      pages: [
        { id: 1, body: text },
        { id: 2, body: "short needle" },
      ],
    },
    "lanes",
  );
  const { handle } = await call("lab.big");
  const { content } = await call(handle!, { path: "/pages", grep: "NEEDLE" });
  const [long, short] = content as [{ path: string; offset: number; match: string }, unknown];
  expect(long).toMatchObject({ path: "/pages/0/body", unit: "chars" });
  expect(long.match).toContain("the needle is here");
  expect(short).toEqual({ id: 2, body: "short needle" });
  const { match, ...place } = long;
  expect(String((await call(handle!, place)).content).startsWith(match)).toBe(true);

  const inText = await call(handle!, { path: "/pages/0/body", grep: "needle" });
  expect(inText.content).toMatch(/^0 \(unit chars, offset \d+\): a+ the needle is here b+$/);
  expect(countTokens(inText.text)).toBeLessThan(250);
});

test("grep numbers the lines of a text, so that an offset reads on there", async () => {
  const lines = Array.from({ length: 9_000 }, (_, at) => `line ${at}${at === 4_321 ? " ERROR" : ""}`);
  const call = await caller(lines.join("\n"), "lanes");
  const { handle } = await call("lab.big");
  expect((await call(handle!, { grep: "error" })).content).toBe("4321: line 4321 ERROR");
  expect((await call(handle!, { offset: 4_321, limit: 2 })).content).toBe("line 4321 ERROR\nline 4322");
});

test("get and exec say the same of a long list, before the content", async () => {
  current = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}`, text: "some words" }));
  const got = await gateway.get({ routes: [{ route: "lab.big" }] });
  const ran = await gateway.exec({ op: "lab.big" });
  const said = (text: string) => /\[(\d+ of 2000 items), all \d+ characters at result:/.exec(text);
  expect(said(got.text)?.[1]).toBe(said(ran.text)?.[1]);
  for (const { text } of [got, ran]) expect(said(text)?.index).toBeLessThan(40);
});

verifies(
  "results:rows",
  "a hundred rows of one shape take less than two thirds of the tokens of their JSON",
  async () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({
      id,
      title: `Ticket ${id}`,
      status: id % 3 === 0 ? "open" : "closed",
      assignee: id % 2 === 0 ? "ada" : "grace",
      points: id % 8,
    }));
    const call = await caller(rows, "lanes");
    const { text, content } = await call("lab.big");
    expect(content).toEqual(rows);
    expect(text).toContain("id,title,status,assignee,points\n0,Ticket 0,open,ada,0\n");
    expect(countTokens(text)).toBeLessThan((countTokens(JSON.stringify(rows)) * 2) / 3);
  },
);
