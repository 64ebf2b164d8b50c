// A tool that writes: it commits what it does, and a dry run is the same work, undone. So what the dry run
// answers, refusals included, is what the call would answer.
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
