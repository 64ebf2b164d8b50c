// The noise of questions after steering text, measured on sessions that read everything the examples have.
import { createGateway, type Principal } from "keyhole";
import { expect, test } from "vitest";
import { createSystems } from "../../examples/playground/systems.ts";
import { detectInjection } from "../../src/base/safety/detect-injection.ts";
import { faceApiOf } from "../../src/gateway/face-api.ts";

const owner: Principal = { id: "owner", scopes: ["admin", "kyc", "sql"], allowWrite: true };

test("T15: a session that reads everything of the examples gets no question more than before", async () => {
  const systems = createSystems();
  const gateway = createGateway({
    domains: systems.flatMap(({ domains }) => domains),
    sources: systems.flatMap(({ sources }) => sources),
    principal: owner,
  });
  const session = await gateway.openSession();
  const { entries } = await gateway.view();
  const readable = entries.filter(({ lane, kind }) => lane === "read" && kind !== "skill");
  let read = 0;
  const steering: string[] = [];
  for (const { route, examples } of readable) {
    const routes = [{ route, params: { ...examples[0]?.args } }];
    const { summary, text } = await gateway.get({ routes }, { session });
    read += summary.succeeded;
    // The examples are the owner's own text. That of a server would count if it reads like this.
    if (detectInjection(text).length > 0) steering.push(route);
  }
  const writing = entries.filter(({ kind, lane }) => kind === "tool" && lane !== "read");
  const reasons: string[] = [];
  for (const { op, examples } of writing) {
    const input = { op, args: { ...examples[0]?.args } };
    const [decision] = await faceApiOf(gateway).decide("exec", input, { session });
    if (decision?.do === "ask") reasons.push(decision.question.why);
  }
  console.log(
    `${read} reads, ${steering.length} would steer; ${writing.length} writes, ${reasons.length} ask, ${count(reasons, "steered")} of them after steering text`,
  );
  expect(steering).toEqual([]);
  expect(read).toBeGreaterThan(100);
  expect(writing.length).toBeGreaterThan(40);
  expect(count(reasons, "steered")).toBe(0);
  await gateway.close();
  await Promise.all(systems.map((system) => system.close()));
});

function count(reasons: readonly string[], why: string): number {
  return reasons.filter((reason) => reason === why).length;
}
