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
import { loadTokenCounter } from "../src/util/tokens.ts";
import { verifies } from "./requirements.ts";

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
  const own = page.left.find((left) => (left.params.path ?? "") === path);
  if (own?.unit === "chars" && typeof page.content !== "string") {
    return JSON.parse(await readText(read, own.params));
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
  const offset = Number(params.offset ?? 0);
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

async function readText(read: (params: Params) => Promise<Shown>, params: Params): Promise<string> {
  const { content, left } = await read(params);
  const [next] = left;
  return `${content}${next ? await readText(read, next.params) : ""}`;
}

const long = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.toWellFormed()),
  fc
    .tuple(fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }), fc.nat(900))
    .map(([unit, times]) => unit.repeat(times)),
  fc.array(fc.string({ maxLength: 40 }), { maxLength: 90 }).map((lines) => lines.join("\n")),
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
    fc.array(tie("value"), { maxLength: 40 }),
    fc.array(fc.record({ id: fc.nat(), name: fc.string(), tags: fc.array(fc.string()) }), { maxLength: 60 }),
    fc.dictionary(key, tie("value"), { maxKeys: 25 }),
  ),
})).value;

const BUDGETS = [150, 300, 1_000];

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
            return shown;
          };
          const first = await within("lab.big");
          const whole = first.handle
            ? await readWhole((params) => within(first.handle!, params), {}, first)
            : first.content;
          expect(isDeepStrictEqual(whole, value)).toBe(true);
        },
      ),
      { numRuns: 150 },
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
