import { createGateway, createToolbox, defineDomain, defineTool } from "keyhole";
import { afterAll, expect, test } from "vitest";
import { MALFORMED_CALLS, SAMPLES } from "./malformed-calls.ts";

/** A tool of each sample; strict ones refuse other arguments, as half of all servers do. */
const domains = [...Map.groupBy(SAMPLES, ({ op }) => op.split(".")[0]!)].map(([name, samples]) =>
  defineDomain({
    name,
    description: `Works with ${name}.`,
    tools: samples.map(({ op, args }, at) =>
      defineTool({
        name: op.split(".").slice(1).toReversed().join("_"),
        op,
        description: `Works with ${op}.`,
        lane: op.endsWith("read") || op.endsWith("search") ? "read" : "write",
        inputSchema: {
          type: "object",
          properties: Object.fromEntries(
            Object.entries(args).map(([key, value]) => [key, { type: typeof value }]),
          ),
          required: Object.keys(args),
          additionalProperties: at % 2 === 1,
        },
        execute: (given) => `ran ${op} ${JSON.stringify(given)}`,
      }),
    ),
  }),
);
const gateway = createGateway({ domains, principal: { id: "weak", scopes: [], allowWrite: true } });
afterAll(() => gateway.close());

test("a malformed call works, or its answer names the one thing to change", async () => {
  expect(MALFORMED_CALLS.length).toBeGreaterThanOrEqual(200);
  const toolbox = await createToolbox(gateway);
  const wrong: string[] = [];
  for (const { shape, tool, input, works, names = [] } of MALFORMED_CALLS) {
    const { text } = await toolbox.call(tool, input);
    const isRight = works === undefined ? names.every((name) => text.includes(name)) : text.includes(works);
    if (!isRight) wrong.push(`${shape}: ${JSON.stringify(input)} → ${text.slice(0, 300)}`);
  }
  expect(wrong).toEqual([]);
});
