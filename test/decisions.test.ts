// Every face decides about a call as decideCall does.
import type { Client } from "@modelcontextprotocol/client";
import fc from "fast-check";
import {
  createGateway,
  createToolbox,
  defineDomain,
  defineTool,
  type Gateway,
  type Principal,
  toOpenAITools,
} from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createMcpServer } from "keyhole/mcp";
import { createScriptedModel } from "keyhole/testing";
import { afterAll, expect, test } from "vitest";
import { type CallDecision, type CallPolicy, decideCall } from "../src/core/calls/decide-call.ts";
import type { Entry, ToolEntry } from "../src/core/nouns/entry.ts";
import { ASKS, type AskBefore } from "../src/core/nouns/question.ts";
import { faceApiOf } from "../src/gateway/face-api.ts";
import { connect, ERAS, type Era } from "./mcp/connect.ts";

/** Cases of all faces together. */
const RUNS = 5_000;
const LANES = ["read", "write", "destructive"] as const;
const ran: string[] = [];

/** A shop whose domain asks about these calls. */
function shopOf(ask?: AskBefore) {
  const name = ask === undefined ? "shop" : `shop_${ask}`;
  return defineDomain({
    name,
    description: "A shop.",
    ...(ask && { ask }),
    tools: LANES.flatMap((lane) => [
      ...[false, true].map((requiresConfirmation) =>
        defineTool({
          name: `${name}_${lane}_${requiresConfirmation ? "confirmed" : "plain"}`,
          op: `${name}.${lane}.${requiresConfirmation ? "confirmed" : "plain"}`,
          description: `A tool of the ${lane} lane.`,
          lane,
          requiresConfirmation,
          execute: () => ran.push("run"),
          dryRun: () => ran.push("dry-run"),
        }),
      ),
      defineTool({
        name: `${name}_${lane}_itself`,
        op: `${name}.${lane}.itself`,
        description: `A tool of the ${lane} lane that asks while it runs.`,
        lane,
        asksItself: true,
        execute: async (_, { ask }) => {
          const answer = await ask?.({ scope: "shop", action: "sell", reason: "It is rare.", always: [] });
          const isAllowed = answer === true || (typeof answer === "object" && "by" in answer);
          return isAllowed ? ran.push("run") : "not allowed";
        },
        dryRun: () => ran.push("dry-run"),
      }),
    ]),
  });
}

const domains = [undefined, ...ASKS].map(shopOf);
const writer: Principal = { id: "writer", scopes: [], allowWrite: true };
const reader: Principal = { id: "reader", scopes: [], allowWrite: false };
const gateways = new Map(
  [undefined, ...ASKS].map((ask) => [ask, createGateway({ domains, ...(ask && { ask }) })]),
);
const opened: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(opened.map((close) => close()));
  await Promise.all([...gateways.values()].map((gateway) => gateway.close()));
});

/** The outcome of a call: run, dry run or refusal with a code; whether a person was asked first; how often it ran. */
interface Effect {
  readonly asked: boolean;
  readonly did: string;
  readonly times: number;
}

/** What the person says who is asked: nobody, if there is none or they give the question up. */
const SAYS = ["yes", "no", "nobody"] as const;
type Says = (typeof SAYS)[number];
type Approve = () => Says;
/** The answer of a person as an application gives it. */
const APPROVALS = { yes: true, no: "declined", nobody: false } as const;

interface Case {
  readonly gateway: Gateway;
  readonly entry: Entry;
  readonly principal: Principal;
  readonly dryRun: boolean | undefined;
  readonly says: Says;
}

type Face = (given: Case, ask: Approve) => Promise<{ code?: string }>;

const anyCall: CallPolicy = { reach: "any", asks: "never" };
const onlyReads: CallPolicy = { reach: "read", asks: "never" };

const FACES: Readonly<Record<string, { policy: CallPolicy; dryRuns: boolean; call: Face }>> = {
  exec: {
    policy: anyCall,
    dryRuns: true,
    call: async ({ gateway, entry, principal, dryRun }, ask) =>
      codeOf(await gateway.exec({ op: entry.op, ...dry(dryRun) }, { principal, approve: approving(ask) })),
  },
  get: {
    policy: onlyReads,
    dryRuns: false,
    call: async ({ gateway, entry, principal }, ask) =>
      codeOf(await gateway.get({ routes: [{ route: entry.route }] }, { principal, approve: approving(ask) })),
  },
  batch: {
    policy: anyCall,
    dryRuns: true,
    call: async ({ gateway, entry, principal, dryRun }, ask) =>
      codeOf(
        await gateway.batch(
          { requests: [{ exec: { op: entry.op, ...dry(dryRun) } }] },
          { principal, approve: approving(ask) },
        ),
      ),
  },
  routes: {
    policy: anyCall,
    dryRuns: true,
    call: async ({ gateway, entry, principal, dryRun }, ask) => {
      const toolbox = await createToolbox(gateway, { surface: "routes", principal, approve: approving(ask) });
      return codeOf((await toolbox.call("get", { routes: [entry.route], ...dry(dryRun) })).data);
    },
  },
  commands: {
    policy: anyCall,
    dryRuns: true,
    call: async ({ gateway, entry, principal, dryRun }, ask) => {
      const toolbox = await createToolbox(gateway, {
        surface: "commands",
        principal,
        approve: approving(ask),
      });
      return codeOf((await toolbox.call("tool_exec", { op: entry.op, ...dry(dryRun) })).data);
    },
  },
  native: {
    policy: anyCall,
    dryRuns: false,
    call: async ({ gateway, entry, principal }, ask) => {
      const toolbox = await createToolbox(gateway, { surface: "native", principal, approve: approving(ask) });
      return codeOf((await toolbox.call(entry.op.replaceAll(".", "_"), {})).data);
    },
  },
  shortcuts: {
    policy: anyCall,
    dryRuns: false,
    call: async ({ gateway, entry, principal }, ask) => {
      const toolbox = await createToolbox(gateway, {
        shortcuts: [entry.op],
        principal,
        approve: approving(ask),
      });
      const shortcut = entry.op.replaceAll(".", "_");
      // A caller who may not write has no shortcut to a tool that writes.
      if (!toolbox.tools.some(({ name }) => name === shortcut)) return { code: "PERMISSION_DENIED" };
      return codeOf((await toolbox.call(shortcut, {})).data);
    },
  },
  "plain tools": {
    policy: anyCall,
    dryRuns: true,
    call: async ({ gateway, entry, principal, dryRun }, ask) => {
      const { call } = await toOpenAITools(gateway, { principal, approve: approving(ask) });
      const args = JSON.stringify({ op: entry.op, ...dry(dryRun) });
      return codeIn((await call({ id: "1", function: { name: "exec", arguments: args } })).content);
    },
  },
  "ai-sdk fixed": {
    policy: anyCall,
    dryRuns: true,
    call: (given, ask) => callSdk("fixed", "exec", { op: given.entry.op, ...dry(given.dryRun) }, given, ask),
  },
  "ai-sdk discover": {
    policy: anyCall,
    dryRuns: false,
    call: (given, ask) => callSdk("discover", given.entry.name, {}, given, ask),
  },
  "the agent": {
    policy: anyCall,
    dryRuns: true,
    call: (given, ask) => callAgent("allow", given, ask),
  },
  "the agent that asks before writes": {
    policy: { reach: "any", asks: "writes" },
    dryRuns: true,
    call: (given, ask) => callAgent("ask", given, ask),
  },
  console: {
    policy: anyCall,
    dryRuns: true,
    call: async ({ gateway, entry, principal, dryRun }, ask) => {
      const stop = faceApiOf(gateway).answerQuestions(approving(ask));
      const answer = await gateway.exec({ op: entry.op, ...dry(dryRun) }, { principal });
      stop();
      return codeOf(answer);
    },
  },
  ...Object.fromEntries(ERAS.flatMap((era) => [mcpFace(era, "lanes"), mcpFace(era, "native")])),
};
/** Each case of the agent opens a conversation, so it runs fewer cases. */
const SHARES: Readonly<Record<string, number>> = {
  "the agent": 0.4,
  "the agent that asks before writes": 0.4,
};

test.each(Object.keys(FACES))(
  "%s decides as decideCall does",
  async (name) => {
    const { policy, dryRuns, call } = FACES[name]!;
    const ops = (await gateways.get(undefined)!.view()).shown.map(({ op }) => op);
    const caseOf = fc.record({
      op: fc.constantFrom(...ops),
      ask: fc.constantFrom(undefined, ...ASKS),
      principal: fc.constantFrom(writer, reader),
      dryRun: fc.constantFrom(undefined, true, false),
      says: fc.constantFrom(...SAYS),
    });
    const check = fc.asyncProperty(caseOf, async ({ op, ask, ...drawn }) => {
      const gateway = gateways.get(ask)!;
      const entry = (await gateway.view()).find(op)!;
      const given = { ...drawn, gateway, entry };
      // A tool called by its own name has no dry run, and neither does get on the reading surface.
      const dryRun = dryRuns ? given.dryRun : name === "get" ? undefined : false;
      // The strictest of the face, the gateway and the domain counts.
      const declared = domains.find((domain) => domain.name === entry.domain)!.ask;
      const asks = ASKS.findLast((each) => [policy.asks, ask, declared].includes(each))!;
      const { ask: _, ...plain } = entry as ToolEntry;
      // Where nobody says anything, destructive calls ask.
      const byDefault = ask ?? declared ?? "destructive";
      const expected = decideCall(
        plain,
        given.principal,
        { args: {}, dryRun },
        { ...policy, asks, byDefault },
      );
      expect(await effectOf(call, { ...given, dryRun })).toEqual(
        (entry as ToolEntry).asksItself && expected.do === "run"
          ? askedInside(name, given.says)
          : effectFrom(expected, answered(name, given.says)),
      );
    });
    const numRuns = Math.ceil((RUNS / Object.keys(FACES).length) * (SHARES[name] ?? 1.1));
    await fc.assert(check, { numRuns });
  },
  120_000,
);

async function effectOf(call: Face, given: Case): Promise<Effect> {
  ran.length = 0;
  let asked = false;
  const { code } = await call(given, () => {
    asked = true;
    return given.says;
  });
  const did = ran[0] ?? (code?.startsWith("APPROVAL") ? "APPROVAL" : (code ?? "nothing"));
  return { asked, did, times: ran.length };
}

function effectFrom(decision: CallDecision, says: Says): Effect {
  if (decision.do === "refuse") return { asked: false, did: decision.problem.code, times: 0 };
  if (decision.do !== "ask") return { asked: false, did: decision.do, times: 1 };
  if (says === "yes") return { asked: true, did: "run", times: 1 };
  if (says === "nobody" && decision.unasked === "dry-run") return { asked: true, did: "dry-run", times: 1 };
  return { asked: true, did: "APPROVAL", times: 0 };
}

/** An application of the AI SDK and the person of an agent always answer. */
function answered(face: string, says: Says): Says {
  return says === "nobody" && /^(?:ai-sdk|the agent)/.test(face) ? "no" : says;
}

/** A tool that asks while it runs reaches the same person. An application of the AI SDK cannot be asked by then. */
function askedInside(face: string, says: Says): Effect {
  const asked = !face.startsWith("ai-sdk");
  return asked && says === "yes" ? { asked, did: "run", times: 1 } : { asked, did: "nothing", times: 0 };
}

const approving = (ask: Approve) => () => APPROVALS[ask()];

/** A client of MCP whose person answers a form. A call that asks ends with the question, and goes on from the answer. */
function mcpFace(era: Era, surface: "lanes" | "native") {
  const clients = new Map<string, Promise<Client>>();
  let ask: Approve = () => "nobody";
  const open = async (gateway: Gateway, principal: Principal) => {
    const server = createMcpServer(gateway, { principal, surface, structured: true });
    const { client } = await connect(server, era, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler("elicitation/create", async () => {
      const says = ask();
      if (says === "yes") return { action: "accept" as const, content: { approve: true } };
      return { action: says === "no" ? ("decline" as const) : ("cancel" as const) };
    });
    opened.push(() => server.close());
    return client;
  };
  const call: Face = async ({ gateway, entry, principal, dryRun }, asking) => {
    ask = asking;
    const key = `${[...gateways.values()].indexOf(gateway)} ${principal.id}`;
    if (!clients.has(key)) clients.set(key, open(gateway, principal));
    const client = await clients.get(key)!;
    const { structuredContent } = await client.callTool(
      surface === "native"
        ? { name: entry.op.replaceAll(".", "_"), arguments: {} }
        : { name: "exec", arguments: { op: entry.op, ...dry(dryRun) } },
    );
    return codeOf(structuredContent);
  };
  return [`mcp of ${era}, ${surface}`, { policy: anyCall, dryRuns: surface === "lanes", call }] as const;
}

/** Calls a tool as the AI SDK does: asks the application first if the tool requires it. */
async function callSdk(
  mode: "fixed" | "discover",
  name: string,
  input: unknown,
  { gateway, principal }: Case,
  ask: Approve,
): Promise<{ code?: string }> {
  const { tools } = await toAISDKTools(gateway, { mode, principal });
  const tool = tools[name]!;
  const options = { toolCallId: "call", messages: [], context: undefined } as never;
  const needs =
    typeof tool.needsApproval === "function" && (await tool.needsApproval(input as never, options));
  if (needs && ask() !== "yes") return { code: "APPROVAL_DECLINED" };
  const { data } = (await tool.execute!(input as never, options)) as unknown as { data: unknown };
  return codeOf(data);
}

/** Has a scripted model make the call in a conversation with the agent. */
async function callAgent(
  writes: "ask" | "allow",
  { gateway, entry, principal, dryRun }: Case,
  ask: Approve,
): Promise<{ code?: string }> {
  const wanted = { name: "exec", args: { op: entry.op, args: {}, ...dry(dryRun) } };
  const model = createScriptedModel([{ calls: [wanted] }, { text: "Done." }]);
  const answer = async () => (ask() === "yes" ? ("once" as const) : ("deny" as const));
  const agent = createAgent({ gateway, model, mode: "fixed", principal, writes, ask: answer });
  for await (const event of run(agent, "go")) {
    if (event.type !== "tool-end") continue;
    return codeIn(event.text);
  }
  return { code: "nothing" };
}

/** The code at the beginning of an answer's text. */
function codeIn(text: string): { code?: string } {
  const code = /^([A-Z_]+): /.exec(text)?.[1];
  return code ? { code } : {};
}

function codeOf(answer: unknown): { code?: string } {
  const { error } = (answer ?? {}) as { error?: { code: string } };
  return error ? { code: error.code } : {};
}

function dry(dryRun: boolean | undefined): { dry_run?: boolean } {
  return dryRun === undefined ? {} : { dry_run: dryRun };
}
