// A writing tool. A dry run does the same work and undoes it, so it answers and refuses exactly as the call would.
import type { AnyTool, ParamsOf, ToolDefinition } from "keyhole";
import type { z } from "zod";
import { commit, type Onto, rehearse } from "../database.ts";

interface WriteTool<S extends z.ZodType> extends Omit<ToolDefinition<S>, "execute" | "dryRun"> {
  run(params: ParamsOf<S>): unknown;
}

export function defineWrite<S extends z.ZodType>({ database }: Onto, tool: WriteTool<S>): AnyTool {
  const { run, ...definition } = tool;
  return {
    ...definition,
    execute: (params) => commit(database, () => run(params as ParamsOf<S>)),
    dryRun: (params) => rehearse(database, () => run(params as ParamsOf<S>)),
  };
}
