// Random catalogs with entries that a caller may not see, and everything that the caller is told about them.
import fc from "fast-check";
import {
  type DomainDefinition,
  defineDomain,
  defineResource,
  defineTool,
  type Gateway,
  type Principal,
} from "keyhole";
import { expect } from "vitest";
import { isMeasuring } from "../is-measuring.ts";

/** `npm run verify` takes 5,000 catalogs, other runs 5,000 calls of fewer catalogs. */
const CALLS = isMeasuring() ? 5 : 20;
export const CALLER: Principal = { id: "someone", scopes: ["a"], allowWrite: true };

const WORDS = [
  ..."order page user list delete create report invoice invoices refund refunds ship shipment".split(" "),
  ..."calendar calender meeting meetings reports zebra quartz constructor toString weiß 天气".split(" "),
];
const word = fc.constantFrom(...WORDS);
const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join("_"));
const sentence = fc.array(word, { minLength: 1, maxLength: 14 }).map((words) => words.join(" "));
const hidden = ["secret"];

const entry = fc.record({
  kind: fc.constantFrom("tool" as const, "tool" as const, "resource" as const),
  name,
  description: sentence,
  phrases: fc.array(sentence, { maxLength: 1 }),
  requiredScopes: fc.constantFrom([], [], ["a"], hidden),
  searchable: fc.constantFrom(undefined, undefined, false),
  lane: fc.constantFrom("read" as const, "write" as const, "destructive" as const),
});

const domain = fc.record({
  description: sentence,
  requiredScopes: fc.constantFrom([], [], [], hidden),
  entries: fc.array(entry, { maxLength: 10 }),
});

export type Planned = typeof domain extends fc.Arbitrary<infer T> ? T : never;

const call = fc.oneof(
  fc.record({ kind: fc.constant("ask" as const), text: fc.oneof(sentence, name, word, typo(word)) }),
  fc.record({ kind: fc.constantFrom("help" as const, "get" as const, "exec" as const), text: name }),
  fc.record({
    kind: fc.constantFrom("ask" as const, "help" as const, "get" as const, "exec" as const),
    at: fc.nat(),
  }),
);

export type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

function typo(right: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(right, fc.nat())
    .map(([text, at]) => text.slice(0, at % text.length) + text.slice((at % text.length) + 1));
}

function isHidden(planned: { readonly requiredScopes: readonly string[] }): boolean {
  return planned.requiredScopes.includes("secret");
}

/** Builds the catalog, with or without the entries that the caller may not see. */
export function build(
  plan: readonly Planned[],
  withHidden: boolean,
): { domains: DomainDefinition[]; routes: string[] } {
  const routes: string[] = [];
  const domains = plan.flatMap((planned, index) => {
    const label = `d${index}`;
    const made = planned.entries.flatMap((one, place) => {
      const { kind, lane, ...rest } = one;
      const route = `${label}://${kind}s/${one.name}/${place}`;
      routes.push(route);
      if (!withHidden && (isHidden(one) || isHidden(planned))) return [];
      return [{ kind, lane, definition: { ...rest, route } }];
    });
    if (!withHidden && isHidden(planned)) return [];
    const tools = made
      .filter(({ kind }) => kind === "tool")
      .map(({ lane, definition }) => defineTool({ ...definition, lane, execute: () => "done" }));
    const resources = made
      .filter(({ kind }) => kind === "resource")
      .map(({ definition }) => defineResource({ ...definition, fetch: () => definition.description }));
    const { description, requiredScopes } = planned;
    return [defineDomain({ name: label, description, requiredScopes, tools, resources })];
  });
  return { domains, routes };
}

async function answerTo(
  gateway: Gateway,
  { kind, ...given }: Call,
  routes: readonly string[],
): Promise<unknown> {
  const text = "text" in given ? given.text : (routes[given.at % (routes.length || 1)] ?? "nothing");
  switch (kind) {
    case "ask":
      return gateway.ask({ query: text, explain: text.length % 2 === 0 });
    case "help":
      return gateway.help({ path: text });
    case "get":
      return gateway.get({ routes: [{ route: text }] });
    case "exec":
      return gateway.exec(text.includes("://") ? { route: text, args: {} } : { op: text, args: {} });
  }
}

/** Trace ids and durations differ from one call to the next. */
function withoutChance(answer: unknown): string {
  const text = JSON.stringify(answer, (key, value) => (/^(latency|duration)/i.test(key) ? undefined : value));
  return text.replaceAll(/tr_[0-9a-f-]{36}/g, "tr_");
}

/** Every answer of a caller, in one text each. */
export async function answersOf(
  gateway: Gateway,
  calls: readonly Call[],
  routes: readonly string[],
): Promise<string[]> {
  const told = [JSON.stringify(await gateway.menu())];
  for (const one of [{ kind: "help" as const, text: "" }, ...calls])
    told.push(withoutChance(await answerTo(gateway, one, routes)));
  return told;
}

/** Compares what a caller is told with and without the entries out of its scopes, over random catalogs and calls. */
export async function compareAnswers(
  catalogs: number,
  answers: (plan: readonly Planned[], calls: readonly Call[], withHidden: boolean) => Promise<unknown>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(domain, { minLength: 1, maxLength: 4 }),
      fc.array(call, { minLength: CALLS, maxLength: CALLS }),
      async (plan, calls) => {
        const withHidden = await answers(plan, calls, true);
        const without = await answers(plan, calls, false);
        expect(withHidden).toEqual(without);
      },
    ),
    { numRuns: catalogs },
  );
}
