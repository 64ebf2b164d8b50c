// A call that needs a person ends with a question, and goes on from its answer.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createFileAuditStore,
  createGateway,
  defineDomain,
  defineTool,
  type GatewayOptions,
  loadTokenCounter,
  onEvent,
  type Principal,
} from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { recordsOf } from "./audit-kit.ts";
import { verifies } from "./claims.ts";
import { isMeasuring } from "./is-measuring.ts";
import { connect, connectHttp, ERAS } from "./mcp/connect.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const owner: Principal = { id: "owner", scopes: [], allowWrite: true };
const FORM = { elicitation: { form: {} } };
const CHARGE = { op: "till.card.charge", args: { id: "a" } };

function openTill() {
  const charged: string[] = [];
  const tool = defineTool({
    name: "charge_card",
    op: "till.card.charge",
    description: "Charge a card.",
    lane: "write",
    requiresConfirmation: true,
    inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    execute: ({ id }, { session }) => {
      charged.push(String(id));
      return session ?? "no session";
    },
  });
  const folder = temporaryFolder();
  const store = createFileAuditStore({ path: folder });
  const domains = [defineDomain({ name: "till", description: "A till.", tools: [tool] })];
  const gateway = createGateway({ domains, principal: owner, audit: { store } });
  const server = createMcpServer(gateway);
  onTestFinished(async () => {
    await server.close();
    await gateway.close();
    await store.close();
  });
  const records = async () => {
    await store.flush();
    return (await recordsOf(await store.chains())).filter(({ kind }) => kind.startsWith("call"));
  };
  return { gateway, server, charged, records };
}

describe.each(ERAS)("a question to a client of %s", (era) => {
  describe.each([
    ["stdio", connect],
    ["http", connectHttp],
  ] as const)("over %s", (_, open) => {
    test("is no error: the ledger counts the answer alone, events and the audit log say that it asks", async () => {
      const { gateway, server, charged, records } = openTill();
      const { client } = await open(server, era, { capabilities: FORM });
      client.setRequestHandler("elicitation/create", async () => ({
        action: "accept",
        content: { approve: true },
      }));
      const outcomes: string[] = [];
      onTestFinished(
        onEvent((event) => {
          if (event.type === "operation") outcomes.push(event.outcome);
        }),
      );
      const before = (await gateway.report()).ledger.total;
      const { content } = await client.callTool({ name: "exec", arguments: CHARGE });
      const [{ text } = { text: "" }] = content as { text: string }[];
      const countTokens = await loadTokenCounter();
      expect((await gateway.report()).ledger.total - before).toBe(countTokens(text));
      expect(outcomes).toEqual(["asks", "ok"]);
      const shown = (await records()).map((record) => {
        const { kind, decided, outcome } = record as unknown as Record<string, string>;
        return [kind, decided, outcome].filter(Boolean).join(" ");
      });
      expect(shown).toEqual(["call-asked", "call-started approved", "call-ended ok"]);
      expect(charged).toEqual(["a"]);
    });
  });
});

test("an answer goes on in the session in which the question was asked", async () => {
  const { gateway, server } = openTill();
  const [asked, other] = [await gateway.openSession(), await gateway.openSession()];
  const send: typeof fetch = (url, init) => server.fetch(new Request(url, init as RequestInit));
  const question = await post("http://localhost/mcp", { ...CHARGE, session: asked }, undefined, send);
  const state = String(question.result?.requestState);
  const answer = await post("http://localhost/mcp", { ...CHARGE, session: other }, state, send);
  expect(JSON.stringify(answer.result?.content)).toContain(`${asked}`);
  expect(JSON.stringify(answer.result?.content)).not.toContain(other);
});

test("a key is free again after a question that nobody answered, and stays taken by the call that ran", async () => {
  const { gateway, charged } = openTill();
  const keyed = { ...CHARGE, idempotencyKey: "k" };
  expect(await gateway.exec(keyed)).toMatchObject({ error: { code: "APPROVAL_REQUIRED" } });
  expect(await gateway.exec(keyed, { approve: () => "declined" })).toMatchObject({
    error: { code: "APPROVAL_DECLINED" },
  });
  const asked: unknown[] = [];
  const approve = () => asked.push("asked") > 0;
  const several = await Promise.all([1, 2, 3].map(() => gateway.exec(keyed, { approve })));
  expect(several.map(({ ok }) => ok)).toEqual([true, true, true]);
  expect(await gateway.exec(keyed, { approve })).toMatchObject({ ok: true });
  expect([asked.length, charged]).toEqual([1, ["a"]]);
  // One of two callers with the same key has nobody to ask; the other one does.
  const both = { ...keyed, idempotencyKey: "l" };
  const [alone, attended] = await Promise.all([gateway.exec(both), gateway.exec(both, { approve })]);
  expect([attended.ok, charged]).toEqual([true, ["a", "a"]]);
  expect(alone).toMatchObject({ error: { code: "APPROVAL_REQUIRED" } });
});

test("the approval of a plan does not answer what a tool of it asks while it runs", async () => {
  const done: string[] = [];
  const pay = defineTool({
    name: "pay_bill",
    op: "office.bill.pay",
    description: "Pay a bill.",
    lane: "write",
    requiresConfirmation: true,
    execute: () => done.push("paid"),
  });
  const shred = defineTool({
    name: "shred_paper",
    op: "office.paper.shred",
    description: "Shred paper.",
    lane: "write",
    asksItself: true,
    execute: async (_, { ask }) => {
      const answer = await ask?.({ scope: "paper", action: "shred it all", reason: "None.", always: [] });
      if (answer !== true) return "not allowed";
      return done.push("shredded");
    },
  });
  const domains = [defineDomain({ name: "office", description: "An office.", tools: [pay, shred] })];
  const gateway = createGateway({ domains, principal: owner });
  onTestFinished(() => gateway.close());
  const asked: string[] = [];
  const approve: GatewayOptions["approve"] = ({ op, asks, inScript }) => {
    asked.push(asks ? asks.action : op.replace(/ .*/, ""));
    return asks ? "declined" : !inScript;
  };
  const code = "await tools.office.bill.pay(); return tools.office.paper.shred()";
  expect(await gateway.run({ code }, { approve })).toMatchObject({ ok: true, result: "not allowed" });
  expect([asked, done]).toEqual([["office.bill.pay", "plan", "shred it all"], ["paid"]]);
});

/** Each round starts two processes. */
const ROUNDS = isMeasuring() ? 12 : 2;

verifies(
  ["mcp:approval", "T19"],
  "a gateway is killed between question and answer, or while the call runs: no call takes place twice",
  async () => {
    const folder = temporaryFolder();
    let first = await startGateway(folder);
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = `card-${round}`;
      const call = { op: "till.card.charge", args: { id } };
      const diesInCall = round % 2 === 1;
      if (diesInCall) writeFileSync(join(folder, `kill-${id}`), "");
      const state = String((await post(first.url, call)).result?.requestState);
      await first.kill();
      expect(chargesOf(folder, id)).toBe(0);
      const second = await startGateway(folder);
      const answers = await Promise.all([1, 2, 3].map(() => post(second.url, call, state).catch(() => ({}))));
      if (diesInCall) await second.ended;
      else expect(answers.filter((answer) => "result" in answer)).toHaveLength(1);
      await second.kill();
      expect(chargesOf(folder, id)).toBe(1);
      first = await startGateway(folder);
      expect(await post(first.url, call, state)).toMatchObject({ error: { code: -32602 } });
      expect(chargesOf(folder, id)).toBe(1);
    }
  },
);

interface Reply {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number };
}

/** Calls like a client of 2026-07-28, with the answer to a question if there is one. */
async function post(url: string, call: object, requestState?: string, send = fetch): Promise<Reply> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": FORM,
  };
  const inputResponses = { approval: { action: "accept", content: { approve: true } } };
  const params = {
    name: "exec",
    arguments: call,
    ...(requestState !== undefined && { inputResponses, requestState }),
    _meta,
  };
  const response = await send(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "exec",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return (await response.json()) as Reply;
}

function chargesOf(folder: string, id: string): number {
  const file = join(folder, "charged.txt");
  if (!existsSync(file)) return 0;
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line === id).length;
}

async function startGateway(folder: string) {
  const child: ChildProcess = fork(join(import.meta.dirname, "asking-gateway.ts"), [folder], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const [url] = (await once(child, "message")) as [string];
  return {
    url,
    ended,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
