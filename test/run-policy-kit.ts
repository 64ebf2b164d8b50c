// The effects of a random script that take place are exactly those that decideCall allows or a person approves.
import fc from "fast-check";
import { createGateway, defineDomain, defineTool, type Gateway, type Principal } from "keyhole";
import { createEmbeddedIndex } from "keyhole/search";
import { expect } from "vitest";
import { z } from "zod";
import { decideCall } from "../src/core/calls/decide-call.ts";
import { LANES, type ToolEntry } from "../src/core/nouns/entry.ts";
import { ASKS, type AskBefore } from "../src/core/nouns/question.ts";
import type { Sandbox } from "../src/core/sandbox/sandbox.ts";
import { faceApiOf } from "../src/gateway/face-api.ts";

const ran = new Map<string, string[]>();

/** A shop whose domain asks about these calls. */
const shopOf = (ask: AskBefore) =>
  defineDomain({
    name: `shop_${ask}`,
    description: "A shop.",
    ask,
    tools: LANES.flatMap((lane) =>
      [false, true].map((requiresConfirmation) =>
        defineTool({
          name: `${ask}_${lane}_${requiresConfirmation}`,
          op: `shop_${ask}.${lane}.${requiresConfirmation ? "confirmed" : "plain"}`,
          description: `A tool of the ${lane} lane.`,
          lane,
          requiresConfirmation,
          inputSchema: z.object({ script: z.string(), step: z.number() }),
          execute: ({ script, step }) => {
            ran.get(script)!.push(`${lane}.${requiresConfirmation ? "confirmed" : "plain"} ${step}`);
            return step;
          },
        }),
      ),
    ),
  });
const arbitraryCase = fc.record({
  tools: fc.array(
    fc.record({
      tool: fc.constantFrom(...LANES.flatMap((lane) => [`${lane}.plain`, `${lane}.confirmed`])),
      way: fc.constantFrom<("call" | "get")[]>("call", "get"),
    }),
    { maxLength: 8 },
  ),
  writes: fc.boolean(),
  dryRun: fc.constantFrom(undefined, true, false),
  answer: fc.constantFrom<(boolean | "declined")[]>(true, false, "declined"),
  /** The choices of the face, the gateway and the domain. */
  asks: fc.tuple(fc.constantFrom(...ASKS), fc.constantFrom(...ASKS), fc.constantFrom(...ASKS)),
  together: fc.boolean(),
});
type Case = typeof arbitraryCase extends fc.Arbitrary<infer T> ? T : never;

/** The calls that may take place, by the rules as the documentation has them. */
async function allowed(
  gateway: Gateway,
  { tools, writes, dryRun, answer, asks: all }: Case,
): Promise<string[]> {
  const principal: Principal = { id: "p", scopes: [], allowWrite: writes };
  const view = await gateway.view({ principal });
  const asks = ASKS.findLast((ask) => all.includes(ask))!;
  let dry = dryRun === true;
  return tools.flatMap(({ tool, way }, step) => {
    const { ask: domainAsk, ...entry } = view.find(`shop_${all[2]}.${tool}`) as ToolEntry;
    expect(domainAsk).toBe(all[2]);
    if (way === "get" && entry.lane !== "read") return [];
    const isEffect = entry.lane !== "read" || tool.endsWith("confirmed") || asks === "always";
    const policy = { reach: "any", asks, byDefault: "never" } as const;
    const decision = decideCall(entry, principal, { dryRun: isEffect && dry }, policy);
    if (decision.do === "ask" && answer === false) dry = true;
    const runs = decision.do === "run" || (decision.do === "ask" && answer === true);
    return runs ? [`${tool} ${step}`] : [];
  });
}

/** Runs random scripts, each by a caller, in a mode and with a person of its own. */
export async function checkRandomScripts(numRuns: number, sandbox?: Sandbox): Promise<void> {
  // Test files share this module, so each check has a gateway of its own.
  const gateways = new Map(
    ASKS.map((ask) => [ask, createGateway({ domains: ASKS.map(shopOf), ask, index: createEmbeddedIndex() })]),
  );
  let number = 0;
  const checked = fc.assert(
    fc.asyncProperty(arbitraryCase, async (given) => {
      const script = `s${number++}`;
      ran.set(script, []);
      const { tools, writes, dryRun, answer, together } = given;
      const [asks, gatewayAsk, domainAsk] = given.asks;
      const gateway = gateways.get(gatewayAsk)!;
      const calls = tools.map(
        ({ tool, way }, step) =>
          `() => ${way}("shop_${domainAsk}.${tool}", { script: "${script}", step: ${step} })`,
      );
      const one = "(make) => make().catch((error) => error.code)";
      const code = together
        ? `return Promise.all([${calls.join(",")}].map(${one}))`
        : `const one = ${one}; for (const make of [${calls.join(",")}]) await one(make);`;
      // Calls made together are decided in their order, one at a time.
      await faceApiOf(gateway).run(
        "run",
        { code, ...(dryRun !== undefined && { dryRun: dryRun }) },
        {
          principal: { id: "p", scopes: [], allowWrite: writes },
          policy: { asks },
          approve: (request) => (request.inScript ? answer : false),
          limits: { concurrency: 1 },
          ...(sandbox && { sandbox }),
        },
      );
      expect(ran.get(script)).toEqual(await allowed(gateway, given));
    }),
    { numRuns },
  );
  await checked.finally(() => Promise.all([...gateways.values()].map((gateway) => gateway.close())));
}
