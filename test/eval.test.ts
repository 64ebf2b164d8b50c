import { loadTokenCounter } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { ARMS, type ArmName } from "../bench/eval/arms.ts";
import { evaluate } from "../bench/eval/evaluate.ts";
import { toReport } from "../bench/eval/report.ts";
import { createSolver, type ScriptedName } from "../bench/eval/solver.ts";
import { createTasks } from "../bench/eval/tasks.ts";
import { installGitServer, openWorld } from "../bench/eval/world.ts";

/** A commit, a call that a person approves, and a document with a file. */
const IDS = ["git-commit", "onto-delete", "library-time"];
/** Each run starts servers. */
const TIMEOUT_MS = 300_000;
const gitServer = installGitServer();

test(
  "the evaluation finds tasks done in every arm, and notices those that were left undone",
  async ({ skip }) => {
    if ("reason" in gitServer) return skip(gitServer.reason);
    const world = await openWorld();
    onTestFinished(() => world.close());
    const countTokens = await loadTokenCounter();
    const tasks = createTasks(world.folder).filter(({ id }) => IDS.includes(id));
    const runWith = (name: ScriptedName, arms: readonly ArmName[]) =>
      evaluate(world, {
        tasks,
        arms,
        rounds: 1,
        model: (task, at) => createSolver(name, task, at, countTokens),
      });

    const solved = await runWith("solver", ARMS);
    expect(solved.filter(({ wrong }) => wrong !== undefined)).toEqual([]);
    expect(solved.map(({ arm }) => arm).slice(0, 8)).toEqual([...ARMS, ...ARMS.slice(1), ARMS[0]]);
    expect(toReport(solved)).toContain("| lanes | 3 of 3 |");
    const inputOf = (name: ArmName) =>
      solved.filter(({ arm }) => arm === name).reduce((sum, { input }) => sum + input, 0);
    expect(inputOf("listed")).toBeGreaterThan(inputOf("deferred"));
    expect(inputOf("deferred")).toBeGreaterThan(inputOf("lanes"));

    const undone = (await runWith("lazy", ["listed", "lanes"])).filter(({ wrong }) => wrong !== undefined);
    expect(undone.map(({ task, arm }) => `${task} ${arm}`)).toEqual([
      "library-time listed",
      "library-time lanes",
    ]);
  },
  TIMEOUT_MS,
);

test("every task has an id of its own and is not done from the start", async ({ skip }) => {
  if ("reason" in gitServer) return skip(gitServer.reason);
  const world = await openWorld();
  onTestFinished(() => world.close());
  world.reset();
  const tasks = createTasks(world.folder);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
  for (const task of tasks) expect(await task.check(world), task.id).toBeTypeOf("string");
});
