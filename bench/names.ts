// Checks that every tool ranks first for its name, its op, and its name in a sentence.
import { join } from "node:path";
import { createGateway } from "keyhole";
import type { Benchmark, Row } from "./benchmark.ts";
import { listSets, readJsonLines, type SetTool, toDomains } from "./tool-sets.ts";

const FORMS: readonly (readonly [metric: string, query: (name: string, op: string) => string])[] = [
  ["name_first", (name) => name],
  ["op_first", (_, op) => op],
  ["in_request_first", (name) => `Please use ${name} for this`],
  ["in_question_first", (name) => `Can you call ${name} with these values?`],
  ["in_task_first", (name) => `I want to run ${name} to get the current results and save them to a file.`],
  ["in_chinese_first", (name) => `请使用${name}来完成这个任务`],
];

export const benchmark: Benchmark = async ({ data }) => {
  const rows: Row[] = [];
  for (const set of listSets(data)) {
    const tools = readJsonLines<SetTool>(join(data!, set, "tools.jsonl"));
    const gateway = createGateway({ domains: toDomains(tools).domains, learning: false });
    const ops = Object.values((await gateway.report()).registry.ops);
    for (const [metric, query] of FORMS) {
      let first = 0;
      for (const { op, tool_name } of ops) {
        const { hits } = await gateway.ask({ query: query(tool_name, op), limit: 1 });
        // Tools of several servers may share a name; an op is unique.
        if (metric === "op_first" ? hits[0]?.op === op : hits[0]?.name === tool_name) first++;
      }
      rows.push({
        bench: "names",
        case: set,
        system: "keyhole",
        metric,
        value: first / ops.length,
        unit: "share",
      });
    }
    await gateway.close();
  }
  return rows;
};
