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
    defineTool({
      name,
      op: `office.page.${name}`,
      description: `Pages: runs ${name}.`,
      execute: (args) => {
        if ((args as { fail?: boolean }).fail) throw new Error("It failed.");
        return "done";
      },
    });
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

test("T12 one principal cannot plant a next step for others, in any number of sessions", async () => {
  const gateway = office();
  for (let time = 0; time < 5; time++) await runBoth(gateway, MALLORY);
  for (let time = 0; time < 5; time++) {
    await runBoth(gateway, MALLORY, await gateway.openSession({ principal: MALLORY }));
  }
  expect([await nextFor(gateway, MALLORY), await nextFor(gateway, ANN)]).toEqual([true, false]);
  await gateway.close();
});

/** Asks for the pages, and then uses something else in place of the first hit. */
async function chooseInstead(gateway: Gateway, principal: Principal, op: string): Promise<void> {
  const session = await gateway.openSession({ principal });
  await gateway.ask({ query: "show all pages", session }, { principal });
  await gateway.exec({ op, session }, { principal });
}

async function firstFor(gateway: Gateway, principal: Principal): Promise<string | undefined> {
  const { hits } = await gateway.ask({ query: "show all pages" }, { principal });
  return hits[0]?.route;
}

test("T11 one principal cannot plant a hit for others, in any number of sessions", async () => {
  const gateway = office();
  const honest = await firstFor(gateway, ANN);
  const other = honest?.endsWith("list") ? "get" : "list";
  for (let time = 0; time < 30; time++) await chooseInstead(gateway, MALLORY, `office.page.${other}`);
  expect(await firstFor(gateway, MALLORY)).toContain(other);
  expect(await firstFor(gateway, ANN)).toBe(honest);
  await gateway.close();
});

test("T11 one principal cannot speak against a hit for others", async () => {
  const gateway = office();
  const honest = await firstFor(gateway, ANN);
  const op = `office.page.${honest?.endsWith("list") ? "list" : "get"}`;
  for (let time = 0; time < 10; time++) {
    const session = await gateway.openSession({ principal: MALLORY });
    await gateway.ask({ query: "show all pages", session }, { principal: MALLORY });
    await gateway.exec({ op, args: { fail: true }, session }, { principal: MALLORY });
  }
  expect(await firstFor(gateway, ANN)).toBe(honest);
  await gateway.close();
});

test("T11 a hit that several principals chose comes first for others of the same scopes only", async () => {
  const gateway = office();
  const honest = await firstFor(gateway, DAVE);
  const other = honest?.endsWith("list") ? "get" : "list";
  for (const principal of [ANN, BOB]) await chooseInstead(gateway, principal, `office.page.${other}`);
  expect(await firstFor(gateway, DAVE)).toBe(honest);
  await chooseInstead(gateway, CAROL, `office.page.${other}`);
  expect(await firstFor(gateway, DAVE)).toContain(other);
  expect(await firstFor(gateway, { ...DAVE, scopes: ["other"] })).toBe(honest);
  await gateway.close();
});

test("T12 a next step that several principals take is told to others of the same scopes only", async () => {
  const gateway = office();
  for (const principal of [ANN, BOB, CAROL]) await runBoth(gateway, principal);
  const outsider = { ...DAVE, scopes: ["other"] };
  expect([await nextFor(gateway, DAVE), await nextFor(gateway, outsider)]).toEqual([true, false]);
  await gateway.close();
});
