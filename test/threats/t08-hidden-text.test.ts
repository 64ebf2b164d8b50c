import { PassThrough } from "node:stream";
import fc from "fast-check";
import {
  createGateway,
  defineDomain,
  defineResource,
  defineTool,
  toAnthropicTools,
  toOpenAITools,
} from "keyhole";
import { afterEach, expect, test } from "vitest";
import { printEvents } from "../../src/agent/chat/print-events.ts";
import { createLogLines } from "../../src/core/telemetry/log-line.ts";
import { createMcpServer } from "../../src/faces/mcp/mcp-server.ts";
import { connect, ERAS } from "../mcp/connect.ts";
import { gatewaySaying, textResult, toolOf } from "./says.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

/** Characters that nothing may show raw: controls, bidi, zero-width, tags, halves of pairs. */
const RAW =
  /(?![\t\n])(?!\r\n)\p{Cc}|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e01ef}\p{Cs}]/u;
const HIDDEN = "\u001b]52;c;eA==\u0007\u009b31m\u202e\u2066\u200b\u{e0041}\u{e007f}\u00ad";
const SPELT = "\\u001b]52;c;eA==\\u0007\\u009b31m\\u202e\\u2066\\u200b\\udb40\\udc41\\udb40\\udc7f\\u00ad";
const PERSIAN = "می‌خواهم 👩‍🚀 שלום";
const said = (text: string) => `${text}${HIDDEN} ${PERSIAN}`;

/** The hidden characters flag the definitions, so a person has to approve them. */
async function approvedGateway() {
  const gateway = gatewaySaying(SAYS);
  open.push(gateway);
  await gateway.view();
  await gateway.pins.approve("all");
  return gateway;
}

/** Every text in a value, except the data that is meant for programs. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    name === "structuredContent" || name === "blob" ? [] : [name, ...textsIn(part)],
  );
}

const SAYS = {
  "tools/list": {
    tools: [
      toolOf("read", {
        title: said("Read"),
        description: said("Reads."),
        inputSchema: { type: "object", properties: { a: { type: "string", description: said("An a.") } } },
        annotations: { title: said("Read"), readOnlyHint: true },
      }),
      toolOf("fail"),
      toolOf("get_data"),
      toolOf("refuse"),
      toolOf("get_named", { inputSchema: { type: "object", properties: { [said("n")]: {} } } }),
      toolOf("get_chosen", { inputSchema: { type: "object", properties: { a: { enum: [said("n")] } } } }),
    ],
  },
  "prompts/list": {
    prompts: [
      {
        name: "greet",
        title: said("Greet"),
        description: said("Greets."),
        arguments: [{ name: "who", description: said("Who.") }],
      },
    ],
  },
  "prompts/get": {
    description: said("Greets."),
    messages: [{ role: "user", content: { type: "text", text: said("Hi") } }],
  },
  "resources/list": {
    resources: [{ uri: "says://a", name: said("A"), title: said("A"), description: said("An A.") }],
  },
  "resources/templates/list": { resourceTemplates: [] },
  "resources/read": { contents: [{ uri: "says://a", text: said("A text.") }] },
  read: textResult(said("It says")),
  fail: textResult(said("It fails"), { isError: true }),
  get_data: textResult(said("data"), { structuredContent: { text: said("data") } }),
  refusal: said("No"),
};

test("T8: no operation on any surface shows a raw control, bidi, zero-width or tag character", async () => {
  const gateway = await approvedGateway();
  const routes = ["says://tools/read", "says://tools/fail", "says://tools/get_data", "says://tools/refuse"];
  const readables = (await gateway.view()).entries.filter(({ kind }) => kind !== "tool");
  const answers = [
    await gateway.ask({ query: "read named chosen greet" }),
    ...(await Promise.all(
      [...routes, ...readables.map(({ route }) => route)].map((path) =>
        gateway.help({ path, format: "full", includeSchemas: true }),
      ),
    )),
    await gateway.get({
      routes: [...routes, ...readables.map(({ route }) => route)].map((route) => ({ route })),
    }),
    await gateway.exec({ op: "says.read" }),
    await gateway.exec({ op: "says.fail" }),
    await gateway.batch({ requests: routes.map((op) => ({ exec: { op } })) }),
  ];
  const texts = answers.map(({ text }) => text);
  expect(texts.filter((text) => RAW.test(text))).toEqual([]);
  expect(texts.join("\n")).toContain(`It says${SPELT} ${PERSIAN}`);
  expect(texts.join("\n")).toContain(`It fails${SPELT}`);
  // A program gets the data as the server sent it.
  expect(answers.at(-3)).toMatchObject({ result: said("It says") });
});

test("T8: a tool whose argument name or choice hides characters is refused", async () => {
  const gateway = await approvedGateway();
  const { entries } = await gateway.view();
  const refused = entries.filter(({ status }) => status?.state === "invalid").map(({ name }) => name);
  expect(refused).toEqual(["get_chosen", "get_named"]);
});

test.each(ERAS)(
  "T8: clients of %s get lists, results, prompts, resources and errors with visible text",
  async (era) => {
    const gateway = await approvedGateway();
    for (const surface of ["native", "lanes", "commands", "routes"] as const) {
      const server = createMcpServer(gateway, { surface });
      open.push(server);
      const { client, received } = await connect(server, era);
      const { tools } = await client.listTools();
      await client.listPrompts();
      await client.getPrompt({ name: "greet", arguments: { who: "x" } });
      const { resources } = await client.listResources();
      for (const { uri } of resources) await client.readResource({ uri });
      if (surface === "native")
        for (const { name } of tools) await client.callTool({ name, arguments: {} }).catch(() => {});
      const raw = received
        .flatMap((message) => textsIn(JSON.parse(message)))
        .filter((text) => RAW.test(text));
      expect(raw).toEqual([]);
      if (surface === "native")
        expect(received.join("\n")).toContain(JSON.stringify(said("data")).slice(1, -1));
    }
  },
);

const anything = fc
  .array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(HIDDEN, PERSIAN, "\r", "\u2028", "\ud83d")))
  .map((parts) => parts.join(""));

test("T8: whatever a tool returns or throws, no face shows it raw", async () => {
  let value: unknown = "";
  const give = (result: unknown) => {
    if (result instanceof Error) throw result;
    return result;
  };
  const gateway = createGateway({
    domains: [
      defineDomain({
        name: "lab",
        description: "For tests.",
        tools: [defineTool({ name: "get_it", description: "Gets it.", execute: () => give(value) })],
        resources: [
          defineResource({
            route: "lab://resources/page",
            name: "page",
            description: "A page.",
            fetch: () => String(value),
          }),
        ],
      }),
    ],
  });
  open.push(gateway);
  const anthropic = await toAnthropicTools(gateway);
  const openai = await toOpenAITools(gateway, { surface: "native" });
  const native = openai.tools[0]!.function.name;
  await fc.assert(
    fc.asyncProperty(anything, fc.constantFrom("text", "object", "error"), async (text, shape) => {
      value = shape === "text" ? text : shape === "object" ? { [text]: [text] } : new Error(text);
      const shown = [
        (await gateway.exec({ op: "lab.it.get" })).text,
        (await gateway.get({ routes: ["lab.it.get", "lab://resources/page"] as never })).text,
        (await anthropic.call({ id: "1", name: "get", input: { routes: ["lab.it.get"] } })).content,
        (await openai.call({ id: "1", function: { name: native, arguments: "{}" } })).content,
      ];
      for (const each of shown) expect(each).not.toMatch(RAW);
    }),
    { numRuns: 60 },
  );
});

test("T8: keyhole chat --print prints no character that a terminal obeys, in any format", async () => {
  await fc.assert(
    fc.asyncProperty(anything, fc.constantFrom("text", "json", "stream-json"), async (text, format) => {
      const [out, err] = [new PassThrough(), new PassThrough()];
      const events = [
        { type: "notice", text },
        { type: "agent-end", outcome: "answered", text, usage: {} },
      ];
      await printEvents(stream(events) as never, format as never, { out, err });
      for (const printed of [out.read(), err.read()]) expect(String(printed ?? "")).not.toMatch(RAW);
    }),
    { numRuns: 60 },
  );
});

test("T8: a line of the log shows no raw character and stays one line", () => {
  fc.assert(
    fc.property(anything, (detail) => {
      const line = createLogLines("info")({ type: "notice", notice: "content-failed", detail });
      expect(line).not.toMatch(RAW);
      expect(line).not.toContain("\n");
    }),
  );
});

async function* stream(events: readonly object[]) {
  yield* events;
}
