import { describe, expect, test } from "vitest";
import { BARE_ENTRY } from "../nouns/bare-entry.ts";
import type { Domain, Entry, ToolEntry } from "../nouns/entry.ts";
import type { Principal } from "../nouns/principal.ts";
import { createViews } from "./view.ts";

const entryOf = (name: string, more: Partial<ToolEntry> = {}): Entry => ({
  ...BARE_ENTRY,
  kind: "tool",
  route: `shop://tools/${name}`,
  op: `shop.${name}`,
  domain: "shop",
  name,
  description: name,
  lane: "read",
  requiresConfirmation: false,
  extraction: null,
  call: async () => null,
  ...more,
});
const domainOf = (name: string): Domain => ({ name, description: name, scopes: [], rules: [] });
const callerOf = (...scopes: string[]): Principal => ({ id: "ann", scopes, allowWrite: false });

/** A catalog of these entries, whose version of a part names the part. */
function viewsOf(entries: readonly Entry[], domains = ["shop"]) {
  let made = 0;
  const views = createViews({
    version: "whole",
    domains: new Map(domains.map((name) => [name, domainOf(name)])),
    entries,
    find: (address, allowed) =>
      entries.find((entry) => [entry.route, entry.op].includes(address) && allowed!(entry)),
    versionOf: (seen, ofDomains) => {
      made += 1;
      return [...seen, ...ofDomains].map(({ name }) => name).join(" ");
    },
  });
  return { views, made: () => made };
}

const names = (entries: readonly Entry[]) => entries.map(({ name }) => name);

test("a principal whose scopes change in place is seen with those that it has now", () => {
  const { views } = viewsOf([
    entryOf("free"),
    entryOf("paid", { scopes: ["pay"] }),
    entryOf("kept", { scopes: ["keep"] }),
  ]);
  const scopes = ["pay", "other"];
  const caller: Principal = { id: "ann", scopes, allowWrite: false };
  const seen = () => names(views(caller).entries);
  expect(seen()).toEqual(["free", "paid"]);
  expect(views(caller)).toBe(views(caller));
  scopes[0] = "keep";
  expect(seen()).toEqual(["free", "kept"]);
  scopes.push("pay");
  expect(seen()).toEqual(["free", "paid", "kept"]);
  scopes.length = 0;
  expect(seen()).toEqual(["free"]);
});

describe("scopes", () => {
  const { views } = viewsOf([
    entryOf("free"),
    entryOf("paid", { scopes: ["pay"] }),
    entryOf("both", { scopes: ["pay", "admin"] }),
  ]);

  test.each([
    [[], ["free"]],
    [["pay"], ["free", "paid"]],
    [["admin"], ["free"]],
    [
      ["admin", "pay", "other"],
      ["free", "paid", "both"],
    ],
  ])("a caller with %j sees %j", (scopes, seen) => {
    const view = views(callerOf(...scopes));
    expect(names(view.entries)).toEqual(seen);
    expect(names(view.shown)).toEqual(seen);
  });

  test("an address out of scope finds nothing, by route, op or name", () => {
    const view = views(callerOf());
    for (const address of ["shop://tools/paid", "shop.paid", "paid"]) {
      expect(view.find(address)).toBeUndefined();
    }
    expect(view.byName("paid")).toEqual([]);
    expect(views(callerOf("pay")).find("paid")?.name).toBe("paid");
  });
});

describe("a view", () => {
  test("has hidden entries, but shows none of them", () => {
    const { views } = viewsOf([entryOf("open"), entryOf("step", { visibility: "hidden" })]);
    const view = views(callerOf());
    expect(names(view.entries)).toEqual(["open", "step"]);
    expect(names(view.shown)).toEqual(["open"]);
    expect(view.find("shop.step")?.name).toBe("step");
    expect(view.find("step")).toBeUndefined();
  });

  test("has only the domains that show an entry, and their entry points", () => {
    const { views } = viewsOf(
      [
        entryOf("home", { visibility: "entry" }),
        entryOf("list"),
        entryOf("start", { domain: "docs", visibility: "entry", scopes: ["docs"] }),
        entryOf("step", { domain: "steps", visibility: "hidden" }),
      ],
      ["shop", "docs", "steps", "empty"],
    );
    const view = views(callerOf());
    expect([...view.domains.keys()]).toEqual(["shop"]);
    expect([...view.entryPoints].map(([domain, entries]) => [domain, names(entries)])).toEqual([
      ["shop", ["home"]],
    ]);
    expect([...views(callerOf("docs")).domains.keys()]).toEqual(["shop", "docs"]);
    expect([...views(callerOf("docs")).entryPoints.keys()]).toEqual(["shop", "docs"]);
  });

  test("has the catalog's version only if it is the whole catalog", () => {
    const paid = entryOf("paid", { scopes: ["pay"] });
    const { views } = viewsOf([entryOf("free"), paid]);
    expect(views(callerOf("pay")).version).toBe("whole");
    expect(views(callerOf()).version).toBe("shop free");
    const withEmpty = viewsOf([entryOf("free")], ["shop", "empty"]);
    expect(withEmpty.views(callerOf()).version).toBe("shop free");
  });

  test("is the same for the same scopes in any order, and names its caller", () => {
    const { views, made } = viewsOf([entryOf("free"), entryOf("paid", { scopes: ["pay"] })]);
    const first = views(callerOf("b", "a"));
    const second = views({ id: "bob", scopes: ["a", "b", "a"], allowWrite: true });
    expect(second.scopeKey).toBe(first.scopeKey);
    expect(second.entries).toBe(first.entries);
    expect([first.principal.id, second.principal.id]).toEqual(["ann", "bob"]);
    expect(made()).toBe(1);
    expect(views(callerOf("a")).scopeKey).not.toBe(first.scopeKey);
    expect(views(callerOf("a,b")).scopeKey).not.toBe(first.scopeKey);
    expect(made()).toBe(3);
  });
});

describe("names", () => {
  const twice = [
    entryOf("get_page"),
    entryOf("get_page", { route: "docs://tools/get_page", op: "docs.page" }),
  ];
  const entries = [
    ...twice,
    entryOf("placeOrder", { aliases: ["buy now", "Buy-Now"] }),
    entryOf("a.b"),
    entryOf("!?", { op: "shop.odd", route: "shop://tools/odd" }),
  ];
  const viewOf = () => viewsOf(entries).views(callerOf());

  test("find an entry if only one has them", () => {
    const view = viewOf();
    expect(view.find("placeOrder")?.op).toBe("shop.placeOrder");
    expect(view.find("get_page")).toBeUndefined();
    expect(view.byName("get_page")).toHaveLength(2);
    expect(view.byName("missing")).toEqual([]);
    expect(view.find("docs.page")).toBe(twice[1]);
  });

  test.each(["a.b", "a:b", "a/b", "a?b", "a#b"])(
    "that could pass as an address, such as %s, find none",
    (name) => {
      const { views: odd } = viewsOf([entryOf(name, { op: "shop.odd" })]);
      expect(odd(callerOf()).byName(name)).toEqual([]);
      expect(odd(callerOf()).find(name)).toBeUndefined();
    },
  );
});

test("the domains whose servers still start are named, to callers who see one of their entries", () => {
  const starting = { state: "starting" as const, reason: "it has not answered yet" };
  const { views } = viewsOf(
    [
      entryOf("ready"),
      entryOf("down", { domain: "post", status: { state: "server_down", reason: "it crashed" } }),
      entryOf("late", { domain: "bank", status: starting }),
      entryOf("secret", { domain: "vault", scopes: ["pay"], status: starting }),
      entryOf("unseen", { domain: "attic", visibility: "hidden", status: starting }),
    ],
    ["shop", "post", "bank", "vault", "attic"],
  );
  expect([...views(callerOf()).starting]).toEqual(["bank"]);
  expect([...views(callerOf("pay")).starting]).toEqual(["bank", "vault"]);
});
