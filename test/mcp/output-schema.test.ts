import { createGateway, defineDomain, defineTool, isProblem } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, test } from "vitest";
import { z } from "zod";
import { connect, ERAS } from "./connect.ts";

const priced = z.object({ total: z.number().describe("In cents.") });

function domainOf(...outputSchemas: (z.ZodType | Record<string, unknown>)[]) {
  return defineDomain({
    name: "till",
    description: "Prices.",
    tools: outputSchemas.map((outputSchema, index) =>
      defineTool({
        name: `get_total_${index}`,
        description: "Gets the total.",
        outputSchema,
        execute: () => ({ total: 5, note: "more than the schema names" }),
      }),
    ),
  });
}

test.each(ERAS)("a native client of %s is told what a tool returns, and takes its results", async (era) => {
  const json = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  const either = z.union([priced, z.object({ none: z.literal(true) })]);
  const server = createMcpServer(createGateway({ domains: [domainOf(priced, json, either)] }), {
    surface: "native",
  });
  const { client } = await connect(server, era);
  const { tools } = await client.listTools();
  expect(tools.map(({ outputSchema }) => outputSchema)).toEqual([
    {
      type: "object",
      properties: { total: { type: "number", description: "In cents." } },
      required: ["total"],
    },
    json,
    expect.objectContaining({ type: "object", anyOf: expect.any(Array) }),
  ]);
  for (const { name } of tools) {
    const result = await client.callTool({ name, arguments: {} });
    expect(result).toMatchObject({ structuredContent: { total: 5 } });
  }
  await server.close();
});

test("an output schema that describes no object is a wrong definition", () => {
  const errors = (() => {
    try {
      createGateway({ domains: [domainOf(z.array(z.string()), { type: "string" }, priced)] });
    } catch (error) {
      return isProblem(error) ? error.details.errors : error;
    }
  })();
  expect(errors).toEqual([
    "domain till, tool get_total_0: outputSchema: must describe an object",
    "domain till, tool get_total_1: outputSchema: must describe an object",
  ]);
});
