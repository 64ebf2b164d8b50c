import { createGateway } from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { createMcpServer } from "keyhole/mcp";
import { createScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { showProgram } from "../../src/core/access/consents.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { connect, ERAS } from "../mcp/connect.ts";
import { setUpPermissions } from "../set-up-permissions.ts";
import { clerk, createShop } from "../shop.ts";

/** The third letter is Cyrillic. */
const ROOT = "/ro\u043et";
const REFUND = { op: "shop.refund.send", args: { customer: ROOT, cents: 500 } };

test("T22: a question about a call or a command, a definition and a server spell out lookalike letters", async () => {
  const questions: string[] = [];
  const gateway = createGateway({ domains: createShop().domains, principal: clerk });
  const server = createMcpServer(gateway, { structured: true });
  onTestFinished(() => server.close());
  for (const era of ERAS) {
    const { client } = await connect(server, era, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      questions.push(params.message);
      return { action: "decline" };
    });
    await client.callTool({ name: "exec", arguments: REFUND });
  }
  expect(questions).toEqual(
    Array(2).fill('Run shop.refund.send with {"customer":"/ro\\u{43e}t","cents":500}?'),
  );

  const asked: string[] = [];
  const model = createScriptedModel([{ calls: [{ name: "exec", args: REFUND }] }, { text: "Done." }]);
  const ask = async ({ action }: { readonly action: string }) => {
    asked.push(action);
    return "deny" as const;
  };
  const agent = createAgent({ gateway, model, mode: "fixed", principal: clerk, ask });
  for await (const event of run(agent, "go")) void event;
  expect(asked).toEqual(['shop.refund.send {"customer":"/ro‹U+043E›t","cents":500}']);

  const { permissions, asked: commands } = setUpPermissions({}, "deny");
  await permissions.command(`make ${ROOT}`);
  await permissions.file("fs-write", ROOT);
  expect(commands.map(({ resource, always }) => [resource, always])).toEqual([
    ["make /ro‹U+043E›t", []],
    ["/ro‹U+043E›t", []],
  ]);

  const source = createMcpSource("files", { command: "serve", args: [ROOT] }, { cwd: "/" });
  expect(showProgram(source.program())[0]).toBe('runs     serve "/ro\\u043et"');
});
