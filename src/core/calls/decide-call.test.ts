import { describe, expect, test } from "vitest";
import { BARE_ENTRY } from "../nouns/bare-entry.ts";
import { LANES, type ReadableEntry, type ToolEntry } from "../nouns/entry.ts";
import type { Principal } from "../nouns/principal.ts";
import { ASKS, type AskBefore } from "../nouns/question.ts";
import { type CallPolicy, callHash, decideCall, stricterAsk } from "./decide-call.ts";

const writer: Principal = { id: "ann", scopes: [], allowWrite: true };
const reader: Principal = { id: "bob", scopes: [], allowWrite: false };

const toolOf = (lane: ToolEntry["lane"], more: Partial<ToolEntry> = {}): ToolEntry => ({
  ...BARE_ENTRY,
  kind: "tool",
  route: "shop://tools/order/place",
  op: "shop.order.place",
  domain: "shop",
  name: "place",
  description: "Places an order.",
  lane,
  requiresConfirmation: false,
  extraction: null,
  call: async () => null,
  ...more,
});

const page: ReadableEntry = {
  ...BARE_ENTRY,
  kind: "resource",
  route: "shop://resources/page",
  op: "shop.resources.page",
  domain: "shop",
  name: "page",
  description: "A page.",
  lane: "read",
  load: async () => null,
};

const policyOf = (asks: CallPolicy["asks"], reach: CallPolicy["reach"] = "any"): CallPolicy => ({
  asks,
  // Only the policy and the tool decide here.
  byDefault: "never",
  reach,
});

/** A decision in one word: what happens, and why. */
function decided(...call: Parameters<typeof decideCall>): string {
  const decision = decideCall(...call);
  if (decision.do === "ask") return `ask: ${decision.question.why}`;
  return decision.do === "refuse" ? decision.problem.code : decision.do;
}

describe("a call that asks for no dry run", () => {
  test.each([
    ["read", "never", "run"],
    ["read", "destructive", "run"],
    ["read", "writes", "run"],
    ["write", "never", "run"],
    ["write", "destructive", "run"],
    ["write", "writes", "ask: writes"],
    ["destructive", "never", "run"],
    ["destructive", "destructive", "ask: destroys"],
    ["destructive", "writes", "ask: destroys"],
  ] as const)("of a tool that may %s, where a person approves %s: %s", (lane, asks, outcome) => {
    const request = { args: {}, dryRun: false };
    expect(decided(toolOf(lane), writer, request, policyOf(asks))).toBe(outcome);
    const refused = lane === "read" ? "run" : "PERMISSION_DENIED";
    expect(decided(toolOf(lane), reader, request, policyOf(asks))).toBe(refused);
  });
});

test("the domain of a tool may ask about more calls than the policy, and never about fewer", () => {
  const table = [
    ["read", "writes", "never", "run"],
    ["write", "never", "writes", "ask: writes"],
    ["write", "destructive", "never", "run"],
    ["write", "writes", "never", "ask: writes"],
    ["destructive", "never", "destructive", "ask: destroys"],
    ["destructive", "destructive", "never", "ask: destroys"],
    ["destructive", "writes", "never", "ask: destroys"],
  ] as const;
  for (const [lane, ask, asks, outcome] of table) {
    const tool = toolOf(lane, { ask });
    expect([lane, ask, asks, decided(tool, writer, { dryRun: false }, policyOf(asks))]).toEqual([
      lane,
      ask,
      asks,
      outcome,
    ]);
    expect(decided(tool, writer, { dryRun: true }, policyOf(asks))).toBe("dry-run");
  }
});

test("the stricter of two counts, and a misspelt word as the strictest", () => {
  expect(stricterAsk()).toBe("never");
  expect(stricterAsk("destructive", "never")).toBe("destructive");
  expect(stricterAsk("destructive", "writes")).toBe("writes");
  expect(stricterAsk("always", "writes")).toBe("always");
  expect(stricterAsk("write" as AskBefore)).toBe("always");
  const tool = toolOf("write", { ask: "write" as AskBefore });
  expect(decided(tool, writer, {}, policyOf("never"))).toBe("ask: writes");
});

describe("a call that says nothing of a dry run", () => {
  test.each([
    ["read", "run"],
    ["write", "run"],
    ["destructive", "run"],
  ] as const)("of a tool that may %s: %s", (lane, outcome) => {
    expect(decided(toolOf(lane), writer, {}, policyOf("never"))).toBe(outcome);
  });
});

test("destructive calls ask unless the tool, its domain or the gateway says otherwise", () => {
  const policy = { reach: "any", asks: "never" } as const;
  const by = (ask?: AskBefore, byDefault?: AskBefore) =>
    LANES.map((lane) =>
      decided(
        toolOf(lane, { ...(ask && { ask }) }),
        writer,
        {},
        { ...policy, ...(byDefault && { byDefault }) },
      ),
    );
  expect(by()).toEqual(["run", "run", "ask: destroys"]);
  expect(by("never")).toEqual(["run", "run", "run"]);
  expect(by(undefined, "never")).toEqual(["run", "run", "run"]);
  expect(by("destructive", "never")).toEqual(["run", "run", "ask: destroys"]);
  expect(by("always")).toEqual(["ask: confirmation", "ask: confirmation", "ask: confirmation"]);
});

test("a destructive call that nobody can be asked about runs dry, unless it says that it shall not", () => {
  const unasked = (lane: ToolEntry["lane"], dryRun?: boolean) => {
    const decision = decideCall(toolOf(lane), writer, { dryRun }, policyOf("writes"));
    return decision.do === "ask" ? decision.unasked : decision.do;
  };
  expect([unasked("destructive"), unasked("destructive", false)]).toEqual(["dry-run", "refuse"]);
  expect([unasked("write"), unasked("write", true)]).toEqual(["refuse", "dry-run"]);
});

test("a write asks after text of another server tried to steer the model, and a read does not", () => {
  const by = (lane: ToolEntry["lane"], steeredBy: readonly string[], more: Partial<ToolEntry> = {}) =>
    decided(toolOf(lane, more), writer, {}, { ...policyOf("never"), steeredBy });
  expect(by("write", [])).toBe("run");
  expect(by("write", ["shop"])).toBe("run");
  expect(by("write", ["shop", "mail"])).toBe("ask: steered");
  expect(by("read", ["mail"])).toBe("run");
  expect(by("write", ["mail"], { ask: "never" })).toBe("ask: steered");
  const decision = decideCall(toolOf("write"), writer, {}, { ...policyOf("never"), steeredBy: ["mail"] });
  expect(decision).toMatchObject({ question: { why: "steered", steeredBy: "mail" }, unasked: "refuse" });
});

describe("a dry run on request", () => {
  test.each(["read", "write", "destructive"] as const)("is for everybody, in the %s lane", (lane) => {
    for (const principal of [writer, reader]) {
      for (const asks of ASKS) {
        const tool = toolOf(lane, { requiresConfirmation: true });
        expect(decided(tool, principal, { dryRun: true }, policyOf(asks))).toBe("dry-run");
      }
    }
  });

  test("changes nothing for an entry that is read", () => {
    expect(decided(page, reader, { dryRun: true }, policyOf("writes"))).toBe("run");
  });

  test("is not what an argument of the same name asks for", () => {
    const request = { args: { dry_run: true, dryRun: true } };
    expect(decided(toolOf("write"), writer, request, policyOf("writes"))).toBe("ask: writes");
  });
});

describe("a face that only reads", () => {
  test.each([
    ["read", "run"],
    ["write", "ACCESS_DENIED"],
    ["destructive", "ACCESS_DENIED"],
  ] as const)("in the %s lane: %s, dry or not", (lane, outcome) => {
    for (const request of [{}, { dryRun: false }]) {
      expect(decided(toolOf(lane), writer, request, policyOf("never", "read"))).toBe(outcome);
    }
    const dry = lane === "read" ? "dry-run" : outcome;
    expect(decided(toolOf(lane), writer, { dryRun: true }, policyOf("never", "read"))).toBe(dry);
  });
});

test("a tool that requires confirmation asks in every lane and under every policy", () => {
  for (const lane of ["read", "write", "destructive"] as const) {
    for (const asks of ASKS) {
      const tool = toolOf(lane, { requiresConfirmation: true });
      expect(decided(tool, writer, { dryRun: false }, policyOf(asks))).toBe("ask: confirmation");
    }
  }
});

test("a tool that asks a person itself asks no second time; others do", () => {
  const asks = (asksItself: boolean) => {
    const tool = toolOf("destructive", { requiresConfirmation: true, asksItself });
    return decided(tool, writer, { dryRun: false }, policyOf("writes"));
  };
  expect(asks(true)).toBe("run");
  expect(asks(false)).toBe("ask: confirmation");
});

test("an entry that cannot be used is refused before anything else, with the reason", () => {
  const status = { state: "quarantined", reason: "it waits" } as const;
  for (const dryRun of [undefined, true, false]) {
    const tool = toolOf("destructive", { status });
    expect(decided(tool, writer, { dryRun }, policyOf("writes", "read"))).toBe("UNAVAILABLE");
  }
  expect(decideCall({ ...page, status }, writer, {}, policyOf("never"))).toMatchObject({
    problem: {
      message: "shop://resources/page exists but cannot be used now (quarantined): it waits",
    },
  });
});

test("refusals name the tool and its lane", () => {
  const denied = decideCall(toolOf("write"), reader, {}, policyOf("never"));
  expect(denied).toMatchObject({
    problem: { message: "shop.order.place writes, and this caller may not write." },
  });
  const unreachable = decideCall(toolOf("destructive"), writer, {}, policyOf("never", "read"));
  expect(unreachable).toMatchObject({
    problem: { message: "shop.order.place destroys, and this tool only reads." },
  });
});

test("a question carries exactly the call that would run", () => {
  const args = { item: "tea", count: 2 };
  const decision = decideCall(toolOf("write"), writer, { args }, policyOf("writes"));
  expect(decision).toEqual({
    do: "ask",
    question: {
      op: "shop.order.place",
      args,
      hash: callHash(toolOf("write"), { count: 2, item: "tea" }),
      principal: writer,
      why: "writes",
    },
    unasked: "refuse",
  });
  const bare = decideCall(toolOf("write"), writer, {}, policyOf("writes"));
  expect(bare).toMatchObject({ question: { args: {}, hash: callHash(toolOf("write"), {}) } });
});

test("the hash of a call differs by tool, definition, program and every argument, not by the order of keys", () => {
  const tool = toolOf("write");
  const served = (hash: string, program: string) =>
    toolOf("write", { origin: { source: "s", program, definition: {}, hash, trusted: false } });
  const hashes = [
    callHash(tool, undefined),
    callHash(tool, { x: 1 }),
    callHash(tool, { x: 2 }),
    callHash(tool, { y: 1 }),
    ...[
      { op: "b" },
      { route: "shop://tools/order/put" },
      { name: "put" },
      { description: "Deletes an order." },
      { scopes: ["admin"] },
      { inputSchema: { type: "object", properties: { x: {} } } },
    ].map((other) => callHash(toolOf("write", other), undefined)),
    callHash(toolOf("destructive"), undefined),
    callHash(served("one", "npx a"), undefined),
    callHash(served("two", "npx a"), undefined),
    callHash(served("one", "npx b"), undefined),
    callHash(page, undefined),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
  expect(callHash(toolOf("write"), {})).toBe(hashes[0]);
  expect(callHash(tool, { x: 1, y: 2 })).toBe(callHash(tool, { y: 2, x: 1 }));
});

test("only tools are asked about, and only the domains that ask themselves are left out", () => {
  const secret = { ...page, requiresConfirmation: true };
  expect(decided(secret, writer, {}, policyOf("writes"))).toBe("run");
  const odd = toolOf("write", { domain: "other" });
  expect(decided(odd, writer, {}, policyOf("writes"))).toBe("ask: writes");
});

describe("a call of a recipe", () => {
  const cases = LANES.flatMap((lane) =>
    [false, true].map((requiresConfirmation) => ({ lane, requiresConfirmation })),
  );

  test("runs without a further question wherever the recipe itself ran", () => {
    for (const recipe of cases)
      for (const call of cases)
        for (const asks of ASKS) {
          const bounds = { lane: recipe.lane, confirmation: recipe.requiresConfirmation };
          const isKept =
            LANES.indexOf(call.lane) <= LANES.indexOf(recipe.lane) &&
            (recipe.requiresConfirmation || !call.requiresConfirmation);
          const tool = toolOf(call.lane, { requiresConfirmation: call.requiresConfirmation });
          const within = { ...policyOf(asks), within: bounds };
          const outcome = decided(tool, writer, { dryRun: false }, within);
          expect(outcome === "run", JSON.stringify([recipe, call, asks])).toBe(isKept);
        }
  });

  test("asks if the domain of its tool does and nobody has approved the recipe", () => {
    const tool = toolOf("write", { ask: "writes" });
    for (const confirmation of [false, true]) {
      const within = { ...policyOf("never"), within: { lane: "write", confirmation } as const };
      expect(decided(tool, writer, {}, within)).toBe(confirmation ? "run" : "ask: writes");
    }
  });

  test("is refused beyond the calls that it was kept with, and writes only for whoever may write", () => {
    const bounds = { lane: "write", confirmation: true, calls: ["shop.order.get"] } as const;
    const within = { ...policyOf("never"), within: bounds };
    expect(decided(toolOf("write"), writer, { dryRun: true }, within)).toBe("BEYOND_RECIPE");
    expect(decided(toolOf("read"), writer, {}, within)).toBe("run");
    expect(decided(toolOf("read", { requiresConfirmation: true }), writer, {}, within)).toBe("BEYOND_RECIPE");
    const named = { ...within, within: { ...bounds, calls: ["shop.order.place"] } };
    expect(decided(toolOf("write"), writer, {}, named)).toBe("run");
    expect(decided(toolOf("write"), reader, {}, named)).toBe("PERMISSION_DENIED");
  });
});
