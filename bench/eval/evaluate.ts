import type { LanguageModelV4 } from "@ai-sdk/provider";
import { generateText, isStepCount, type LanguageModelUsage } from "ai";
import { ARMS, type Arm, type ArmName, type Arms, markCached, openArms } from "./arms.ts";
import type { Task } from "./task.ts";
import type { World } from "./world.ts";

/** One task in one arm. */
export interface EvalRun {
  readonly task: string;
  readonly arm: ArmName;
  readonly round: number;
  /** Why the state that it left is wrong; undefined if the task is done. */
  readonly wrong?: string;
  readonly turns: number;
  readonly input: number;
  /** The part of the input that the provider had cached. */
  readonly cached: number;
  readonly output: number;
}

export interface EvalOptions {
  readonly tasks: readonly Task[];
  readonly arms?: readonly ArmName[];
  readonly rounds: number;
  /** The model for the run of a task, which stands at this place in the list. */
  model(task: Task, at: number): LanguageModelV4 | Promise<LanguageModelV4>;
  onRun?(run: EvalRun): void;
}

const MOST_TURNS = 25;

/** Runs every task in every arm. The arms take turns, and each round another one begins: caches make the order count. */
export async function evaluate(world: World, options: EvalOptions): Promise<EvalRun[]> {
  const { tasks, arms = ARMS, rounds, model, onRun } = options;
  world.reset();
  const opened = await openArms(world, arms);
  const runs: EvalRun[] = [];
  try {
    for (let round = 0; round < rounds; round++)
      for (const [at, task] of tasks.entries())
        for (let turn = 0; turn < arms.length; turn++) {
          const arm = arms[(at + round + turn) % arms.length]!;
          const run = { round, ...(await runTask(world, opened, arm, task, await model(task, at))) };
          runs.push(run);
          onRun?.(run);
        }
    return runs;
  } finally {
    await opened.close();
  }
}

async function runTask(
  world: World,
  arms: Arms,
  name: ArmName,
  task: Task,
  model: LanguageModelV4,
): Promise<Omit<EvalRun, "round">> {
  world.reset();
  const arm = await arms.open(name);
  try {
    const { steps, failure } = await converse(arm, task, model);
    const wrong = (await task.check(world)) ?? failure;
    const sum = (read: (usage: LanguageModelUsage) => number | undefined) =>
      steps.reduce((total, { usage }) => total + (read(usage) ?? 0), 0);
    return {
      task: task.id,
      arm: name,
      ...(wrong !== undefined && { wrong }),
      turns: steps.length,
      input: sum(({ inputTokens }) => inputTokens),
      cached: sum(({ inputTokenDetails }) => inputTokenDetails.cacheReadTokens),
      output: sum(({ outputTokens }) => outputTokens),
    };
  } finally {
    await arm.close();
  }
}

/** The steps of a conversation; those before a failure count, too. */
async function converse(arm: Arm, { prompt }: Task, model: LanguageModelV4) {
  const steps: { readonly usage: LanguageModelUsage }[] = [];
  try {
    await generateText({
      model,
      tools: arm.tools,
      instructions: arm.instructions,
      prompt,
      stopWhen: isStepCount(MOST_TURNS),
      prepareStep: async (step) => ({
        ...(await markCached(step)),
        ...(arm.active && { activeTools: arm.active() }),
      }),
      onStepFinish: (step) => void steps.push(step),
    });
    return { steps };
  } catch (error) {
    return { steps, failure: (error as Error).message };
  }
}
