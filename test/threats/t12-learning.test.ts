import { createGateway, defineDomain, defineTool, type Gateway, type Principal } from "keyhole";
import { expect, test } from "vitest";

const person = (id: string): Principal => ({ id, scopes: [], allowWrite: true });
const [MALLORY, ANN, BOB, CAROL, DAVE] = ["mallory", "ann", "bob", "carol", "dave"].map(person) as [
  Principal,
  Principal,
  Principal,
  Principal,
  Principal,
];

function office(): Gateway {
  const tool = (name: string) =>
    defineTool({ name, op: `office.page.${name}`, description: `Runs ${name}.`, execute: () => "done" });
  return createGateway({
    domains: [defineDomain({ name: "office", description: "Office.", tools: ["get", "list"].map(tool) })],
  });
}

async function runBoth(gateway: Gateway, principal: Principal, session?: string): Promise<void> {
  const options = { principal };
  for (const op of ["office.page.get", "office.page.list"])
    await gateway.exec({ op, ...(session && { session }) }, options);
}

async function nextFor(gateway: Gateway, principal: Principal): Promise<boolean> {
  const answer = await gateway.exec({ op: "office.page.get" }, { principal });
  return JSON.stringify(answer).includes("Often used next.");
}

test("T12: one principal cannot plant a next step for others, in any number of sessions", async () => {
  const gateway = office();
  for (let time = 0; time < 5; time++) await runBoth(gateway, MALLORY);
  for (let time = 0; time < 5; time++) {
    await runBoth(gateway, MALLORY, await gateway.openSession({ principal: MALLORY }));
  }
  expect([await nextFor(gateway, MALLORY), await nextFor(gateway, ANN)]).toEqual([true, false]);
  await gateway.close();
});

test("T12: a next step that several principals take is told to others of the same scopes only", async () => {
  const gateway = office();
  for (const principal of [ANN, BOB, CAROL]) await runBoth(gateway, principal);
  const outsider = { ...DAVE, scopes: ["other"] };
  expect([await nextFor(gateway, DAVE), await nextFor(gateway, outsider)]).toEqual([true, false]);
  await gateway.close();
});
