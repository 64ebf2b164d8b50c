import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool } from "./define.ts";

test("execute knows its params from a zod schema", () => {
  defineTool({
    name: "list",
    description: "x",
    inputSchema: z.object({ limit: z.number().default(10), state: z.enum(["open", "done"]).optional() }),
    execute: (params) => {
      expectTypeOf(params).toEqualTypeOf<{ limit: number; state?: "open" | "done" | undefined }>();
    },
  });
});

test("execute knows its params from a JSON Schema", () => {
  defineTool({
    name: "list",
    description: "x",
    inputSchema: {
      type: "object",
      properties: {
        title: { type: "string" },
        parent: { type: ["string", "null"] },
        tags: { type: "array", items: { type: "string" } },
        mode: { enum: ["a", "b"] },
        at: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
      },
      required: ["title", "parent", "at"],
    },
    execute: (params) => {
      expectTypeOf(params.title).toEqualTypeOf<string>();
      expectTypeOf(params.parent).toEqualTypeOf<string | null>();
      expectTypeOf(params.tags).toEqualTypeOf<string[] | undefined>();
      expectTypeOf(params.mode).toEqualTypeOf<"a" | "b" | undefined>();
      expectTypeOf(params.at.x).toEqualTypeOf<number>();
    },
  });
});

test("without a schema, params are a record", () => {
  defineTool({
    name: "list",
    description: "x",
    execute: (params) => {
      expectTypeOf(params).toEqualTypeOf<Record<string, unknown>>();
    },
  });
});
