import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { createMcpServer, type McpServer, type McpServerOptions } from "keyhole/mcp";
import { describe, expect } from "vitest";
import { z } from "zod";
import { verifies } from "../claims.ts";
import { clerk, createShop } from "../shop.ts";
import { connect, connectHttp, ERAS } from "./connect.ts";

const REFUND = { op: "shop.refund.send", args: { customer: "c1", cents: 500 } };
const FORM = { elicitation: { form: {} } };
const owner: Principal = { id: "owner", scopes: [], allowWrite: true };

function serve(options: McpServerOptions = {}, approve?: () => boolean) {
  const shop = createShop();
  const gateway = createGateway({ domains: shop.domains, principal: clerk, ...(approve && { approve }) });
  return { ...shop, server: createMcpServer(gateway, { structured: true, ...options }) };
}

describe.each(ERAS)("a client of %s", (era) => {
  describe.each([
    ["stdio", connect],
    ["http", connectHttp],
  ] as const)("over %s", (_, open) => {
    verifies("mcp:approval", "asks the person, shows the exact call, and runs it once", async () => {
      const { server, calls } = serve();
      const { client } = await open(server, era, { capabilities: FORM });
      const questions: string[] = [];
      let approve = true;
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        questions.push(params.message);
        return approve ? { action: "accept", content: { approve: true } } : { action: "decline" };
      });
      const done = await client.callTool({ name: "exec", arguments: REFUND });
      expect(done.structuredContent).toMatchObject({ ok: true, result: "sent" });
      expect(questions).toEqual(['Run shop.refund.send with {"customer":"c1","cents":500}?']);
      expect(calls.made).toHaveLength(1);

      approve = false;
      const refused = await client.callTool({ name: "exec", arguments: REFUND });
      expect(refused.structuredContent).toMatchObject({ ok: false, error: { code: "APPROVAL_DECLINED" } });
      expect(JSON.stringify(refused.content)).toContain("The person declined shop.refund.send.");
      expect(questions).toHaveLength(2);
      expect(calls.made).toHaveLength(1);
      await server.close();
    });

    verifies(
      "mcp:approval",
      "a question that nobody answered is told as such, and nothing runs",
      async () => {
        const { server, calls } = serve();
        const { client } = await open(server, era, { capabilities: FORM });
        client.setRequestHandler("elicitation/create", async () => ({ action: "cancel" }));
        const refused = await client.callTool({ name: "exec", arguments: REFUND });
        expect(JSON.stringify(refused.content)).toContain("nobody could be asked");
        expect(JSON.stringify(refused.content)).not.toContain("have the person approve");
        expect(calls.made).toEqual([]);
        await server.close();
      },
    );

    verifies(
      "mcp:approval",
      "one key answers in the clients that show it so, a checkbox elsewhere",
      async () => {
        const forms: Record<string, unknown> = {};
        for (const name of ["claude-code", "codex-mcp-client", "Visual Studio Code"]) {
          const { server, calls } = serve();
          const { client } = await open(server, era, { capabilities: FORM, name });
          client.setRequestHandler("elicitation/create", async ({ params }) => {
            const { properties } = (params as { requestedSchema: { properties: object } }).requestedSchema;
            forms[name] = Object.keys(properties);
            return { action: "accept", content: {} };
          });
          const answer = await client.callTool({ name: "exec", arguments: REFUND });
          // Without its mark, the checkbox is no yes.
          expect([name, answer.isError ?? false, calls.made.length]).toEqual(
            name === "claude-code" ? [name, false, 1] : [name, true, 0],
          );
          await server.close();
        }
        expect(forms).toEqual({
          "claude-code": [],
          // With its own approvals off, Codex accepts forms without fields and shows nobody a question.
          "codex-mcp-client": ["approve"],
          "Visual Studio Code": ["approve"],
        });
      },
    );

    verifies("mcp:approval", "a client that cannot ask is told how else to approve", async () => {
      const { server, calls } = serve();
      const { client } = await open(server, era);
      const answer = await client.callTool({ name: "exec", arguments: REFUND });
      expect(answer.structuredContent).toMatchObject({ ok: false, error: { code: "APPROVAL_REQUIRED" } });
      expect(JSON.stringify(answer.content)).toContain("nobody could be asked");
      expect(calls.made).toEqual([]);
      await server.close();
    });
  });
});

describe("state of a question", () => {
  verifies(
    ["mcp:approval", "T19"],
    "tampered, replayed, swapped, foreign and expired state is refused",
    async () => {
      const { server, calls } = serve();
      const state = await ask(server, REFUND);
      const refusals = {
        "no state": undefined,
        "made up": "v1.AAAA",
        "one character changed": state.slice(0, 40) + (state[40] === "A" ? "B" : "A") + state.slice(41),
        "cut off": state.slice(0, -4),
        "with something after it": `${state}A`,
      };
      for (const [what, changed] of Object.entries(refusals)) {
        const answer = await answerQuestion(server, REFUND, changed);
        expect([what, answer.ran]).toEqual([what, false]);
      }
      const other = { op: "shop.refund.send", args: { customer: "c1", cents: 50_000 } };
      expect(await answerQuestion(server, other, state)).toMatchObject({ ran: false, code: -32602 });
      expect(await answerQuestion(server, REFUND, state, owner)).toMatchObject({ ran: false, code: -32602 });
      expect(calls.made).toEqual([]);

      expect(await answerQuestion(server, REFUND, state)).toMatchObject({ ran: true });
      expect(await answerQuestion(server, REFUND, state)).toMatchObject({ ran: false, code: -32602 });
      expect(calls.made).toHaveLength(1);
      await server.close();

      const short = serve({ approvalMs: 1 });
      const late = await ask(short.server, REFUND);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await answerQuestion(short.server, REFUND, late)).toMatchObject({ ran: false, code: -32602 });
      expect(short.calls.made).toEqual([]);
      await short.server.close();
    },
  );

  verifies("mcp:approval", "two simultaneous answers to one question run the call once", async () => {
    const { server, calls } = serve();
    const state = await ask(server, REFUND);
    const answers = await Promise.all([1, 2, 3, 4].map(() => answerQuestion(server, REFUND, state)));
    expect(answers.filter(({ ran }) => ran)).toHaveLength(1);
    expect(calls.made).toHaveLength(1);
    await server.close();
  });

  verifies("mcp:approval", "get asks before a write, for one route at a time", async () => {
    const { server, calls } = serve({ surface: "routes" });
    const { client } = await connect(server, "2026-07-28", { capabilities: FORM });
    let asked = 0;
    client.setRequestHandler("elicitation/create", async () => {
      asked += 1;
      return { action: "accept", content: { approve: true } };
    });
    const refund = { route: "shop.refund.send", params: REFUND.args };
    const get = (routes: object[]) => client.callTool({ name: "get", arguments: { routes } });
    expect((await get([refund])).structuredContent).toMatchObject({ summary: { success: 1 } });
    expect([asked, calls.made.length]).toEqual([1, 1]);
    expect((await get([refund, refund])).structuredContent).toMatchObject({ summary: { failed: 2 } });
    expect([asked, calls.made.length]).toEqual([1, 1]);
    await server.close();
  });

  verifies("mcp:approval", "the question shows the whole call, also invisible characters", async () => {
    const { server } = serve();
    const { client } = await connect(server, "2026-07-28", { capabilities: FORM });
    const questions: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      questions.push(params.message);
      return { action: "cancel" };
    });
    const customer = "a\u202eb\u{e0041}c\u001b[2Kd\u2028e";
    await client.callTool({ name: "exec", arguments: { ...REFUND, args: { customer, cents: 1 } } });
    expect(questions).toEqual([
      'Run shop.refund.send with {"customer":"a\\u{202e}b\\u{e0041}c\\u001b[2Kd\\u{2028}e","cents":1}?',
    ]);
    await server.close();
  });

  describe.each(ERAS)("a long call of a client of %s", (era) => {
    verifies("mcp:approval", "is shown whole, page by page, and needs a yes on every page", async () => {
      const { server, calls } = serve();
      const { client } = await connect(server, era, { capabilities: FORM });
      const questions: string[] = [];
      let declined = -1;
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        questions.push(params.message);
        return questions.length === declined
          ? { action: "decline" }
          : { action: "accept", content: { approve: true } };
      });
      const customer = Array.from({ length: 3_000 }, (_, number) => `c${number}`).join(" ");
      const refund = { ...REFUND, args: { customer, cents: 1 } };
      expect((await client.callTool({ name: "exec", arguments: refund })).isError).toBeFalsy();
      expect(calls.made).toHaveLength(1);
      const parts = questions.map((message) => message.slice(message.indexOf("\n") + 1));
      expect(parts.slice(0, -1).join("") === JSON.stringify(refund.args)).toBe(true);
      expect(questions[0]).toMatch(/^Part 1 of 5 of shop\.refund\.send:\n/);
      expect(questions.at(-1)).toBe("Run shop.refund.send with exactly what the 5 parts showed?");

      const pages = questions.splice(0).length;
      for (declined = 1; declined <= pages; declined++) {
        const refused = await client.callTool({ name: "exec", arguments: refund });
        expect(refused.structuredContent).toMatchObject({ error: { code: "APPROVAL_DECLINED" } });
        questions.splice(0);
      }
      expect(calls.made).toHaveLength(1);
      await server.close();
    });
  });

  verifies("mcp:approval", "a tool that asks again continues once under the approval it has", async () => {
    let ran = 0;
    const steps = defineTool({
      name: "send_letter",
      description: "Sends a letter.",
      requiresConfirmation: true,
      inputSchema: z.object({ to: z.string() }),
      execute: (_, { client: asked }) => {
        ran += 1;
        if (asked?.state === "1") return `done ${JSON.stringify(asked.responses)}`;
        const requestedSchema = { type: "object", properties: { text: { type: "string" } } };
        const question = {
          method: "elicitation/create",
          params: { message: "Which text?", requestedSchema },
        };
        return { resultType: "input_required", inputRequests: { question }, requestState: "1" };
      },
    });
    const domains = [defineDomain({ name: "post", description: "Letters.", tools: [steps] })];
    const server = createMcpServer(createGateway({ domains, principal: clerk }), { surface: "native" });
    const { client } = await connect(server, "2026-07-28", { capabilities: FORM });
    const messages: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      messages.push(params.message);
      return { action: "accept", content: { approve: true, text: "hello" } };
    });
    const done = await client.callTool({ name: "post_letter_send", arguments: { to: "Ada" } });
    expect(JSON.stringify(done.content)).toContain("hello");
    expect(messages).toEqual(['Run post.letter.send with {"to":"Ada"}?', "Which text?"]);
    expect(ran).toBe(2);
    await server.close();
  });

  verifies("mcp:approval", "the owner of the gateway can decide instead", async () => {
    const { server, calls } = serve({ approvals: "gateway" }, () => true);
    const { client } = await connect(server, "2026-07-28", { capabilities: FORM });
    await client.callTool({ name: "exec", arguments: REFUND });
    expect(calls.made).toHaveLength(1);
    await server.close();
  });
});

/** Calls like a client of 2026-07-28, by hand, and returns the state of the question. */
async function ask(server: McpServer, call: unknown): Promise<string> {
  const { result } = await post(server, { name: "exec", arguments: call });
  expect(result).toMatchObject({ resultType: "input_required", inputRequests: { approval: {} } });
  return String(result?.requestState);
}

async function answerQuestion(
  server: McpServer,
  call: unknown,
  requestState?: string,
  principal?: Principal,
) {
  const inputResponses = { approval: { action: "accept", content: { approve: true } } };
  const params = { name: "exec", arguments: call, inputResponses, ...(requestState && { requestState }) };
  const { result, error } = await post(server, params, principal);
  return { ran: result?.isError !== true && result?.resultType === "complete", code: error?.code };
}

interface Reply {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number };
}

async function post(server: McpServer, params: object, principal?: Principal): Promise<Reply> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": FORM,
  };
  const request = new Request("http://localhost/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "exec",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, _meta } }),
  });
  const response = await server.fetch(request, principal ? { principal } : {});
  return (await response.json()) as Reply;
}
