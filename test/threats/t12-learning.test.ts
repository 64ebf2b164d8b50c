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

/** An office whose tools words tell apart well. */
function archive(shared: boolean): Gateway {
  const tool = ([name, description]: readonly [string, string]) =>
    defineTool({ name, op: `archive.${name}`, description, execute: () => "done" });
  const tools = (
    [
      ["invoice.print", "Prints an invoice on paper."],
      ["invoice.list", "Lists invoices by date."],
      ["storage.wipe", "Empties the whole storage."],
      ["badge.make", "Makes a badge for a visitor."],
    ] as const
  ).map(tool);
  return createGateway({
    domains: [defineDomain({ name: "archive", description: "Archive.", tools })],
    learning: { shared },
  });
}

const NEED = "print an invoice on paper";

async function callAfter(gateway: Gateway, principal: Principal, query: string, op: string): Promise<void> {
  await gateway.ask({ query }, { principal });
  await gateway.exec({ op }, { principal, approve: () => true });
}

async function orderFor(gateway: Gateway, principal: Principal, query = NEED): Promise<string[]> {
  const { hits } = await gateway.ask({ query }, { principal });
  return hits.filter(({ entryPoint }) => !entryPoint).map(({ op }) => op ?? "");
}

test("T12: each principal learns from itself: the use of others changes no answer", async () => {
  const [gateway, fresh] = [archive(false), archive(false)];
  for (const principal of [MALLORY, BOB, CAROL, DAVE])
    for (let time = 0; time < 10; time++) await callAfter(gateway, principal, NEED, "archive.storage.wipe");
  expect((await gateway.ask({ query: NEED }, { principal: ANN })).text).toBe(
    (await fresh.ask({ query: NEED }, { principal: ANN })).text,
  );
  expect((await orderFor(gateway, MALLORY))[0]).toBe("archive.storage.wipe");
  await Promise.all([gateway.close(), fresh.close()]);
});

test("T12: shared use puts nothing before an entry that words find well, however often it is called", async () => {
  const gateway = archive(true);
  for (const principal of [MALLORY, BOB, CAROL, DAVE])
    for (let time = 0; time < 10; time++) await callAfter(gateway, principal, NEED, "archive.storage.wipe");
  const order = await orderFor(gateway, ANN);
  expect(order[0]).toBe("archive.invoice.print");
  await gateway.close();
});

test("T12: shared use counts principals, not calls, and brings in what words do not find", async () => {
  const need = "somebody arrives at the gate";
  const [one, three] = [archive(true), archive(true)];
  for (let time = 0; time < 30; time++) await callAfter(one, MALLORY, need, "archive.badge.make");
  expect(await orderFor(one, ANN, need)).not.toContain("archive.badge.make");
  for (const principal of [BOB, CAROL, DAVE]) await callAfter(three, principal, need, "archive.badge.make");
  expect(await orderFor(three, ANN, need)).toContain("archive.badge.make");
  await Promise.all([one.close(), three.close()]);
});
