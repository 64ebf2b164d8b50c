// Approvals of calls, over several turns and while the catalog changes.
import type { ModelMessage } from "ai";
import { createGateway, defineDomain, defineTool, type Gateway, type Principal } from "keyhole";
import { describe, expect, onTestFinished, test } from "vitest";
import { call, openShop, search, speak } from "./ai-sdk-kit.ts";

const owner: Principal = { id: "owner", scopes: [], allowWrite: true };
const MODES = ["discover", "fixed"] as const;

const DELETE = {
  discover: [search("delete order"), call("delete_order", { id: 1 })],
  fixed: [call("exec", { op: "shop.order.delete", args: { id: 1 }, dry_run: false })],
};

function answerTo(messages: readonly ModelMessage[], approved: boolean): ModelMessage {
  const parts = messages.flatMap((message) =>
    message.role === "assistant" && typeof message.content !== "string" ? message.content : [],
  );
  const approvalId = parts.find((part) => part.type === "tool-approval-request")?.approvalId ?? "";
  return { role: "tool", content: [{ type: "tool-approval-response", approvalId, approved }] };
}

describe.each(MODES)("%s", (mode) => {
  test.each([true, false])(
    "an approval answered with %s, streaming and not, and the turn after it",
    async (approved) => {
      for (const isStream of [false, true]) {
        const { gateway, calls } = openShop();
        const asked = await speak({
          gateway,
          prompt: "Delete order 1.",
          options: { mode },
          replies: DELETE[mode],
          isStream,
        });
        expect(calls.made).toEqual([]);
        const options = { mode, session: asked.session };
        const answered = await speak({
          gateway,
          options,
          isStream,
          history: [...asked.messages, answerTo(asked.messages, approved)],
          replies: [{ text: "So be it." }],
        });
        expect(answered.text).toBe("So be it.");
        expect(calls.made).toHaveLength(approved ? 1 : 0);
        const next = await speak({
          gateway,
          options: { ...options, trim: { most: 1, keep: 1 } },
          isStream,
          history: answered.messages,
          prompt: "Thanks.",
          replies: [{ text: "Welcome." }],
        });
        expect(next.text).toBe("Welcome.");
        expect(calls.made).toHaveLength(approved ? 1 : 0);
        const used = (await gateway.session(asked.session)).memory.usedTools.map(({ name }) => name);
        expect(used).toEqual(approved ? ["shop.order.delete"] : []);
      }
    },
  );
});

/** A reading tool whose owner requires confirmation. */
function openVault(): { gateway: Gateway; read: () => number } {
  let count = 0;
  const tool = defineTool({
    name: "read_vault",
    description: "Read what is in the vault.",
    lane: "read",
    requiresConfirmation: true,
    execute: () => {
      count += 1;
      return "gold";
    },
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "vault", description: "Valuables.", tools: [tool] })],
    principal: owner,
  });
  onTestFinished(() => gateway.close());
  return { gateway, read: () => count };
}

test("get asks before it reads an entry that requires confirmation", async () => {
  for (const route of ["vault.vault.read", "vault://tools/vault/read", "read_vault?x=1"]) {
    const { gateway, read } = openVault();
    const spoken = await speak({
      gateway,
      prompt: "What is in it?",
      options: { mode: "fixed" },
      replies: [call("get", { routes: [{ route }] }), { text: "Gold." }],
    });
    expect([read(), spoken.text]).toEqual([0, ""]);
  }
});

test("a repaired call still asks for approval", async () => {
  for (const mode of MODES) {
    const { gateway, read } = openVault();
    const replies = [call("read_vault"), call("read_vault"), { text: "Gold." }];
    await speak({ gateway, prompt: "What is in it?", options: { mode }, replies });
    expect(read()).toBe(0);
  }
});

test("an entry that appears or becomes destructive after the tools were made asks for approval", async () => {
  const domains = (lane: "read" | "destructive") => [
    defineDomain({
      name: "disk",
      description: "Disks.",
      tools: [
        defineTool({
          route: "disk://tools/wipe",
          name: "wipe",
          description: "Wipe the disk.",
          lane,
          execute: () => {
            wiped += 1;
          },
        }),
      ],
    }),
  ];
  let wiped = 0;
  for (const mode of MODES) {
    const gateway = createGateway({ domains: mode === "fixed" ? [] : domains("read"), principal: owner });
    onTestFinished(() => gateway.close());
    const wipe = mode === "fixed" ? call("exec", { op: "disk.wipe", dry_run: false }) : call("wipe");
    const replies = mode === "fixed" ? [wipe] : [search("wipe the disk"), wipe];
    const beforeTurn = () => gateway.setDomains(domains("destructive"));
    const spoken = await speak({ gateway, prompt: "Wipe it.", options: { mode }, replies, beforeTurn });
    expect([wiped, spoken.text]).toEqual([0, ""]);
    await gateway.setDomains(domains("read"));
    const repaired = await speak({
      gateway,
      prompt: "Wipe it.",
      options: { mode },
      replies: [wipe, wipe],
      beforeTurn,
    });
    expect([wiped, repaired.text]).toEqual([0, ""]);
  }
});

test("both modes ask for the approvals that the gateway requires", async () => {
  for (const mode of MODES) {
    const { gateway, read } = openVault();
    const read_ = mode === "fixed" ? call("get", { routes: [{ route: "read_vault" }] }) : call("read_vault");
    const { requests } = await speak({
      gateway,
      prompt: "What is in it?",
      options: { mode, approvals: "gateway" },
      replies: [...(mode === "fixed" ? [] : [search("read the vault")]), read_, { text: "Gold." }],
    });
    expect(read()).toBe(0);
    expect(requests.at(-1)?.messages.at(-1)?.text).toContain("APPROVAL_REQUIRED");
  }
});

test("an input that cannot be read is an answer to the model, and the turn goes on", async () => {
  const { gateway } = openShop();
  const { text, requests } = await speak({
    gateway,
    prompt: "Run it.",
    options: { mode: "fixed" },
    replies: [call("exec", { args: {} }), { text: "I need the name." }],
  });
  expect(text).toBe("I need the name.");
  expect(requests.at(-1)?.messages.at(-1)?.text).toContain("give either op or route");
});
