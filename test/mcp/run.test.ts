import { createMcpServer } from "keyhole/mcp";
import { describe, expect, test } from "vitest";
import { createShopGateway } from "../run-kit.ts";
import { connect, connectHttp, ERAS } from "./connect.ts";

const FORM = { elicitation: { form: {} } };

describe.each(ERAS)("a script for a client of %s", (era) => {
  describe.each([
    ["stdio", connect],
    ["http", connectHttp],
  ] as const)("over %s", (_, open) => {
    async function serve(answers: readonly boolean[], canAsk = true) {
      const { gateway, log, orders } = createShopGateway();
      const server = createMcpServer(gateway, { structured: true, surface: "code" });
      const { client } = await open(server, era, canAsk ? { capabilities: FORM } : {});
      const questions: string[] = [];
      if (canAsk)
        client.setRequestHandler("elicitation/create", async ({ params }) => {
          const approve = answers[questions.length] ?? false;
          questions.push(params.message);
          return approve ? { action: "accept", content: { approve: true } } : { action: "decline" };
        });
      const run = async (code: string) =>
        (await client.callTool({ name: "run", arguments: { code } })).structuredContent as Record<
          string,
          unknown
        >;
      const close = async () => {
        await server.close();
        await gateway.close();
      };
      return { run, log, orders, questions, close };
    }

    test("asks once about everything that is left, and repeats nothing", async () => {
      const { run, log, questions, close } = await serve([true]);
      const code =
        "await tools.shop.order.create({ customer: 'ann' }); for (const id of [1, 2]) await tools.shop.order.pay({ id }); return 'paid'";
      expect(await run(code)).toMatchObject({ ok: true, result: "paid" });
      expect(log).toEqual(["create ann", "pay 1", "pay 2"]);
      expect(questions).toHaveLength(1);
      expect(questions[0]).toMatch(
        /^Run plan [0-9a-f]{12} with \{"effects":\[\{"op":"shop.order.pay","args":\{"id":1\}\}/,
      );
      await close();
    });

    test("asks again about effects that nobody could foresee", async () => {
      const { run, log, questions, close } = await serve([true, true]);
      const code =
        "const { paid } = await tools.shop.order.pay({ id: 1 }); await tools.shop.order.pay({ id: (paid ?? 6) + 1 }); return 'ok'";
      expect(await run(code)).toMatchObject({ ok: true, result: "ok" });
      expect(log).toEqual(["pay 1", "pay 2"]);
      expect(questions).toHaveLength(2);
      await close();
    });

    test("changes nothing more when the person declines, or nobody can be asked", async () => {
      const declined = await serve([false]);
      const code =
        "await tools.shop.order.create({ customer: 'ann' }); await tools.shop.order.pay({ id: 1 })";
      expect(await declined.run(code)).toMatchObject({ ok: false, error: { code: "APPROVAL_DECLINED" } });
      expect(declined.log).toEqual(["create ann"]);
      await declined.close();
      const alone = await serve([], false);
      expect(await alone.run(code)).toMatchObject({
        ok: false,
        error: { code: "APPROVAL_REQUIRED" },
        effects: [{ state: "done" }, { state: "planned" }],
        plan: { handle: expect.stringMatching(/^plan_/) },
      });
      expect(alone.log).toEqual(["create ann"]);
      await alone.close();
    });
  });
});

test("the surfaces list run: code always, lanes by option, within the menu's budget", async () => {
  const { gateway } = createShopGateway();
  const names = async (options: object) => {
    const server = createMcpServer(gateway, options);
    const { client } = await connect(server, "2026-07-28");
    const { tools } = await client.listTools();
    await server.close();
    return tools.map(({ name }) => name);
  };
  expect(await names({ surface: "code" })).toEqual(["ask", "run"]);
  expect(await names({})).toEqual(["ask", "help", "get", "exec"]);
  expect(await names({ run: true })).toEqual(["ask", "help", "get", "exec", "run"]);
  await gateway.close();
});
