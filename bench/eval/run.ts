// npm run eval -- --model PROVIDER/MODEL: lets a model do tasks over local servers in four ways, checks the state that
// each run leaves, and prints how many were done and what they took. Keys are those of the chat: docs/models.md.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { loadTokenCounter } from "keyhole";
import { createLLMClient } from "keyhole/models";
import { chooseProvider, withModel } from "../../src/agent/chat/model-lists.ts";
import { ARMS } from "./arms.ts";
import { type EvalRun, evaluate } from "./evaluate.ts";
import { toReport } from "./report.ts";
import { createSolver, SCRIPTED } from "./solver.ts";
import { createTasks } from "./tasks.ts";
import { openWorld } from "./world.ts";

const USAGE = `Usage: npm run eval -- --model PROVIDER/MODEL [options]

  --model NAME    such as anthropic/claude-sonnet-5, or local/NAME for a server on this machine; without a provider
                  ${SCRIPTED.join(" and ")}, which are scripted: the first does every task, the second leaves some undone
  --tasks A,B     only tasks whose id begins with one of these
  --arms A,B      of ${ARMS.join(", ")} (default: all)
  --rounds N      how often each task is run in each arm (default: 1)
  --out FILE      writes each run as a line of JSON`;

const { values } = parseArgs({
  options: {
    model: { type: "string" },
    tasks: { type: "string", default: "" },
    arms: { type: "string", default: ARMS.join(",") },
    rounds: { type: "string", default: "1" },
    out: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const arms = ARMS.filter((arm) => values.arms.split(",").includes(arm));
const rounds = Number(values.rounds);
if (values.help || !values.model || arms.length !== values.arms.split(",").length || !(rounds >= 1)) {
  console.error(USAGE);
  process.exit(values.help ? 0 : 2);
}
const model = values.model;
const scripted = SCRIPTED.find((name) => name === model);
const countTokens = await loadTokenCounter();
const real = scripted ? undefined : await openModel(model);
const world = await openWorld();
const tasks = createTasks(world.folder).filter(({ id }) =>
  values.tasks.split(",").some((start) => id.startsWith(start)),
);
try {
  const runs = await evaluate(world, {
    tasks,
    arms,
    rounds,
    model: (task, at) => real ?? createSolver(scripted!, task, at, countTokens),
    onRun: tell,
  });
  if (values.out) writeFileSync(values.out, runs.map((run) => `${JSON.stringify(run)}\n`).join(""));
  console.log(toReport(runs));
} finally {
  await world.close();
}
process.exit(0);

async function openModel(name: string): Promise<LanguageModelV4> {
  const [providers, chosen] = chooseProvider({ default: "local" }, name);
  const client = createLLMClient({ config: { providers: withModel(providers, chosen) } });
  const answer = await client.languageModel();
  if (answer.success) return answer.result;
  console.error(answer.message);
  process.exit(1);
}

function tell({ task, arm, wrong, turns, input }: EvalRun): void {
  console.error(
    `${task} ${arm}: ${wrong ?? "done"}; ${turns} turns, ${input.toLocaleString("en")} tokens of input`,
  );
}
