// The text of an answer says nothing twice and nothing that a model cannot use.

import { resolve } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { eventually, gatewayOf, operator } from "./upstream-kit.ts";

const rich = { command: process.execPath, args: [resolve("test/rich-upstream.ts")] };
const upstream = gatewayOf([createMcpSource("files", rich, { trusted: true })]);
const order = z.object({ id: z.string().min(1), note: z.string().optional() });
const gateway = createGateway({
  principal: operator,
  domains: [
    defineDomain({
      name: "shop",
      description: "Orders of a shop.",
      tools: [
        defineTool({
          name: "delete_order",
          description: "Delete an order.",
          inputSchema: order,
          execute: () => ({ gone: true }),
        }),
        defineTool({
          name: "pay_order",
          description: "Pay an order.",
          lane: "write",
          requiresConfirmation: true,
          execute: () => ({ paid: true }),
        }),
        defineTool({
          name: "get_order",
          description: "Get an order.",
          inputSchema: order,
          execute: () => ({ id: "a" }),
        }),
        defineTool({
          name: "update_order",
          description: "Update an order.",
          inputSchema: order,
          execute: () => ({ updated: true }),
        }),
        defineTool({
          name: "break_order",
          description: "Break an order.",
          lane: "write",
          execute: () => {
            throw new Error("It broke.");
          },
        }),
      ],
    }),
    defineDomain({
      name: "lamps",
      description: "Lamps.",
      tools: [defineTool({ name: "list_lamps", description: "List lamps.", execute: () => [] })],
    }),
  ],
});
beforeAll(() =>
  eventually(async () => expect((await upstream.view()).find("files.fail")).toBeDefined(), 30_000),
);
afterAll(() => Promise.all([gateway.close(), upstream.close()]));

describe("an error", () => {
  test("of a name that nothing is near proposes no names", async () => {
    const { text } = await gateway.exec({ op: "quux.at_all" });
    expect(text).toBe(
      "NOT_FOUND: quux.at_all not found. Check the spelling. Or find it with ask.\nhelp: root",
    );
  });

  test("of a misspelt name has the nearest ones and the group to look into", async () => {
    const { text } = await gateway.exec({ op: "shop.order.dalete" });
    expect(text).toMatch(
      /^NOT_FOUND: shop\.order\.dalete not found\. Check the spelling\. Or find it with ask\.\n\{"nearest":\["shop\.order\.delete".*\]\}\nhelp: shop\.order$/,
    );
  });

  test("of wrong args has the schema as a model needs it", async () => {
    const { text } = await gateway.exec({ op: "shop.order.delete", args: { id: 7 } });
    expect(text).toMatch(/^INVALID_PARAMS: The params for shop\.order\.delete do not fit its schema\./);
    expect(text).toContain('"field":"id"');
    expect(text).not.toMatch(/\$schema|minLength|\ntrace:/);
  });

  test("of an approval is one sentence, its next step and its help", async () => {
    const declined = await gateway.exec(
      { op: "shop.order.pay" },
      { approve: async () => ({ declined: "not now" }) },
    );
    expect(declined.text).toBe(
      "APPROVAL_DECLINED: The person declined shop.order.pay, and says: not now. Do not repeat the call: do what they say, or else go on without it or ask.\nhelp: shop.order.pay",
    );
    const nobody = await gateway.exec({ op: "shop.order.pay" });
    expect(nobody.text).toMatch(
      /^APPROVAL_REQUIRED: shop\.order\.pay runs only [^\n]+\nhelp: shop\.order\.pay$/,
    );
  });

  test("of a tool that reads names the tool that may write", async () => {
    const { text } = await gateway.get({ routes: [{ route: "shop.order.delete" }] });
    expect(text).toBe(
      "# shop.order.delete\nACCESS_DENIED: shop.order.delete destroys, and this tool only reads. Call it with exec.\nhelp: shop.order.delete",
    );
  });

  test("of the gateway itself has the trace that its owner looks for", async () => {
    const { text } = await gateway.exec({ op: "shop.order.break" });
    expect(text).toMatch(/^INTERNAL: .*It broke\..*\nhelp: shop\.order\.break\ntrace: tr_[\w-]+$/s);
  });

  test("of an input names the field once", async () => {
    expect((await gateway.ask({} as never)).text).toBe(
      "INVALID_INPUT: The input of ask is invalid: query or queries is needed. Correct the named fields and call again.\nhelp: root",
    );
  });

  test("of a server names the server once", async () => {
    const { text } = await upstream.exec({ op: "files.fail" });
    expect(text.match(/files(?!\.)/g)).toHaveLength(2);
    expect(text).toMatch(
      /^UPSTREAM_ERROR: <untrusted files>The server files answered with an error: .*<\/untrusted> .*\nhelp: files\.fail$/s,
    );
  });
});

test("a dry run does not repeat the args", async () => {
  const note = "A long note. ".repeat(4_000);
  const dry = await gateway.exec({ op: "shop.order.delete", args: { id: "a", note } });
  expect(dry).toMatchObject({ ok: true, meta: { dryRun: true } });
  expect(dry.text).toBe(
    "shop.order.delete: Would run with these args.\n[It is destructive, so it ran dry: nothing was changed. shop.order.delete runs only after a person has approved this exact call, and nobody could be asked. Tell the person that this call needs a client that can ask them, or an approver at the gateway.]",
  );
});

test("a write without a read before it is told what to read, and after it what to check", async () => {
  const session = await gateway.openSession();
  const write = { op: "shop.order.update", args: { id: "a" }, session };
  const unread = "[shop.order.update was not preceded by a read of the same thing in this session.";
  const dry = await gateway.exec({ ...write, dryRun: true });
  expect(dry.text).toContain(`${unread} Read first: shop.order.get {"id":"a"}.]`);
  const done = await gateway.exec(write);
  expect(done.text).toContain(`${unread} Check what it changed: shop.order.get {"id":"a"}.]`);
});

test("after a delete nothing says to read what is gone", async () => {
  const session = await gateway.openSession();
  const request = { op: "shop.order.delete", args: { id: "a" }, session, dryRun: false } as const;
  const done = await gateway.exec(request, { approve: () => true });
  expect(done.text).not.toContain("was not preceded by a read");
});

test("a file that may be new is written without a word about reading it", async () => {
  const file = z.object({ path: z.string() });
  const tool = (name: string, lane: "read" | "write" | "destructive") =>
    defineTool({ name, op: `files.${name}`, description: name, lane, inputSchema: file, execute: () => 1 });
  const files = createGateway({
    principal: operator,
    domains: [
      defineDomain({
        name: "files",
        description: "Files.",
        tools: [tool("read_file", "read"), tool("write_file", "destructive"), tool("edit_file", "write")],
      }),
    ],
  });
  onTestFinished(() => files.close());
  const session = await files.openSession();
  const textOf = async (op: string) =>
    (await files.exec({ op, args: { path: "a.txt" }, session, dryRun: true })).text;
  expect(await textOf("files.write_file")).not.toContain("read");
  expect(await textOf("files.edit_file")).toContain('Read first: files.read_file {"path":"a.txt"}.');
});

test("a field that a client adds by itself is not told to the model", async () => {
  const { text } = await gateway.get({
    routes: ["lamps.list"],
    wait_for_previous: true,
    loud: true,
  } as never);
  expect(text).toContain("[ignored unknown fields: loud]");
});

test("the description of ask names each of eight servers first, and once more with its tools", async () => {
  const names = [
    "chrome",
    "everything",
    "filesystem",
    "github",
    "memory",
    "notion",
    "playwright",
    "thinking",
  ];
  const tool = defineTool({ name: "go", op: "", description: "Go.", execute: () => 1 });
  const eight = createGateway({
    domains: names.map((name) =>
      defineDomain({ name, description: "A server.", tools: [{ ...tool, op: `${name}.go` }] }),
    ),
  });
  const [ask] = await eight.menu();
  expect(ask?.description).toMatch(new RegExp(`^For ${names.join(", ")}\\. `));
  for (const name of names) expect(ask?.description).toContain(`\n- ${name}: go`);
  expect(ask?.description.match(new RegExp(names.join("|"), "g"))).toHaveLength(16);
  await eight.close();
});

test("a domain that says nothing of itself has no empty description", async () => {
  expect((await upstream.help({ path: "files" })).text).not.toMatch(/^# files: *$/m);
});
