import { PGlite } from "@electric-sql/pglite";
import { createPostgresState } from "keyhole/postgres";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { defineDomain, defineTool } from "../src/core/nouns/define.ts";
import { createGateway } from "../src/gateway/create-gateway.ts";
import type { Gateway } from "../src/gateway/gateway-api.ts";
import { createPostgresIndex } from "../src/postgres/search/postgres-index.ts";
import { isMeasuring } from "./is-measuring.ts";
import { TASKS } from "./origins/ernesto-domains.ts";
import { answersOf, build, CALLER, compareAnswers } from "./threats/non-interference-behaviours.ts";

const pglite = new PGlite();
beforeAll(() => pglite.waitReady, 120_000);
afterAll(() => pglite.close());

test("three gateways share one index: one writes, all search", async () => {
  const writer = openGateway(false);
  const readers = [openGateway(true), openGateway(true)];
  for (const gateway of [writer, ...readers]) {
    const { text } = await gateway.ask({ query: "refund a customer" });
    expect(text).toContain("payment/refund");
    expect(text).not.toContain("delete_everything");
  }
  await writer.close();
  expect((await readers[0]!.ask({ query: "refnud" })).text).toContain("payment/refund");
  for (const reader of readers) await reader.close();
});

test("T12: in PostgreSQL, entries out of a caller's scopes change no byte of any answer", {
  timeout: 3_600_000,
}, async () => {
  const open = async (table: string) => {
    const { stores, close } = await createPostgresState({ client: pglite, table });
    const gateway = createGateway({
      domains: [],
      principal: CALLER,
      index: createPostgresIndex({ client: pglite, table: `${table}_index` }),
      ...stores,
      learning: { ...stores.learning, now: () => 1_000 },
    });
    onTestFinished(async () => {
      await gateway.close();
      await close();
    });
    return gateway;
  };
  const [whole, part] = [await open("whole"), await open("part")];
  await compareAnswers(isMeasuring() ? 200 : 10, async (plan, calls, withHidden) => {
    const gateway = withHidden ? whole : part;
    const { domains, routes } = build(plan, withHidden);
    await gateway.setDomains(domains);
    return answersOf(gateway, calls, routes);
  });
});

test("without vectors, words are not drowned by the words of their own domain", async () => {
  const index = createPostgresIndex({ client: pglite, table: "words_alone" });
  const gateway = createGateway({ domains: [TASKS], index });
  const { hits } = await gateway.ask({ query: "create a task" });
  expect(hits[0]?.op).toBe("onto.task.create");
  await gateway.close();
});

function openGateway(readOnly: boolean): Gateway {
  const execute = async (): Promise<string> => "done";
  const shop = defineDomain({
    name: "shop",
    description: "Orders and payments",
    tools: [
      defineTool({ name: "refund_payment", description: "Refund a payment to a customer", execute }),
      defineTool({
        name: "delete_everything",
        description: "Refund every customer and delete all",
        requiredScopes: ["admin"],
        execute,
      }),
    ],
  });
  return createGateway({ domains: [shop], index: createPostgresIndex({ client: pglite, readOnly }) });
}
