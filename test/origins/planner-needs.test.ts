// What people say to a planner with one function for each action on each kind of thing.
import { createGateway } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { PLANNER_NEEDS, PLANNER_TOOLS, plannerDomains } from "./planner-tools.ts";

async function placesOf(needs: typeof PLANNER_NEEDS) {
  const gateway = createGateway({ domains: plannerDomains(), learning: false });
  onTestFinished(() => gateway.close());
  const places: { need: string; place: number; destroying: number }[] = [];
  for (const [need, ...functions] of needs) {
    const { hits } = await gateway.ask({ query: need, limit: 10, maxTokens: 25_000 });
    const found = hits.filter(({ entryPoint }) => !entryPoint);
    places.push({
      need,
      place: found.findIndex(({ name }) => functions.includes(name)),
      destroying: found.findIndex(({ lane }) => lane === "destructive"),
    });
  }
  return places;
}

test("most needs find their function first, nearly all among the first five", async () => {
  expect(PLANNER_TOOLS).toHaveLength(53);
  const places = await placesOf(PLANNER_NEEDS);
  const share = (most: number) =>
    places.filter(({ place }) => place >= 0 && place < most).length / places.length;
  expect(share(1)).toBeGreaterThan(0.7);
  expect(share(5)).toBeGreaterThan(0.95);
});

test("a change of state finds the update", async () => {
  const states = /^(?:mark|set|move|close|(?:re)?assign|complete|postpone|rename|archive|activate) /;
  const changes = PLANNER_NEEDS.filter(([need]) => states.test(need));
  expect(changes.length).toBeGreaterThan(12);
  for (const { need, place } of await placesOf(changes)) expect(place, need).toBe(0);
});

test("no function that destroys stands above the one that is meant, unless it is meant", async () => {
  for (const { need, place, destroying } of await placesOf(PLANNER_NEEDS)) {
    if (place >= 0 && destroying >= 0) expect(destroying, need).toBeGreaterThanOrEqual(place);
  }
});

test("whoever asks to destroy finds what destroys, in other languages too", async () => {
  const needs = [
    ["delete this task", "delete_onto_task"],
    ["löschen die Aufgabe", "delete_onto_task"],
    ["supprimer la tâche", "delete_onto_task"],
    ["删除任务", "delete_onto_task"],
  ] as const;
  for (const { need, place } of await placesOf(needs)) expect(place, need).toBe(0);
});
