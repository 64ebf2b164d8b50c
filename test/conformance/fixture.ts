import { type CallContext, createGateway, type Source, type SourceContent } from "keyhole";
import { BARE_ENTRY } from "../../src/core/nouns/bare-entry.ts";
import { OWNER, type Served, serveNative } from "./serve-native.ts";
import { askingPrompt, PNG, TOOLS } from "./tools.ts";

const DOMAIN = { name: "test", description: "What the conformance suite looks for.", scopes: [], rules: [] };

const entry = { ...BARE_ENTRY, domain: "test" };

const NO_PARAMS = { type: "object" };
const ANY_TEXT = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});

type Draft = SourceContent["drafts"][number];

function tool(
  name: string,
  call: (args: Record<string, unknown>, context: CallContext) => unknown,
  inputSchema = {},
): Draft {
  return {
    ...entry,
    kind: "tool",
    name,
    op: `test.${name}`,
    route: `test://tools/${name}`,
    description: `The tool ${name} of the conformance suite.`,
    inputSchema: { ...NO_PARAMS, ...inputSchema },
    lane: "read",
    requiresConfirmation: false,
    extraction: null,
    call: async (args, context) => call(args, context),
  };
}

function prompt(
  name: string,
  load: (args: Record<string, unknown>, context: CallContext) => unknown,
  args: string[] = [],
): Draft {
  return {
    ...entry,
    kind: "prompt",
    name,
    route: `test://prompts/${name}`,
    description: `The prompt ${name} of the conformance suite.`,
    inputSchema: ANY_TEXT(...args),
    load: async (given, context) => load(given, context),
  };
}

function resource(
  name: string,
  metadata: Record<string, string>,
  load: (args: Record<string, unknown>) => unknown,
): Draft {
  return {
    ...entry,
    kind: "resource",
    name,
    route: `test://resources/${name}`,
    description: `The resource ${name} of the conformance suite.`,
    metadata,
    inputSchema: metadata.uriTemplate ? ANY_TEXT("id") : NO_PARAMS,
    load: async (given) => load(given),
  };
}

const SCHEMA_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const userText = (text: string) => ({ role: "user", content: { type: "text", text } });

function drafts(change: () => void, changes: number): Draft[] {
  const changed = Array.from({ length: changes }, (_, count) =>
    tool(`test_changed_${count}`, () => "changed"),
  );
  return [
    ...Object.entries(TOOLS).map(([name, run]) => tool(name, (args, { client }) => run(client!, args))),
    ...["test_trigger_tool_change", "test_trigger_prompt_change"].map((name) =>
      tool(name, () => void change()),
    ),
    tool("test_header", ({ region }) => region, {
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
      required: ["region"],
    }),
    tool("json_schema_2020_12_tool", () => "ok", SCHEMA_2020_12),
    ...changed,
    prompt("test_simple_prompt", () => "This is a simple prompt for testing."),
    prompt(
      "test_prompt_with_arguments",
      ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
      ["arg1", "arg2"],
    ),
    prompt(
      "test_prompt_with_embedded_resource",
      ({ resourceUri }) => {
        const text = "Embedded resource content for testing.";
        const content = { type: "resource", resource: { uri: resourceUri, mimeType: "text/plain", text } };
        return {
          messages: [{ role: "user", content }, userText("Please process the embedded resource above.")],
        };
      },
      ["resourceUri"],
    ),
    prompt("test_prompt_with_image", () => ({
      messages: [
        { role: "user", content: { type: "image", data: PNG, mimeType: "image/png" } },
        userText("Please analyze the image above."),
      ],
    })),
    prompt("test_input_required_result_prompt", (args, { client }) => askingPrompt(client!, args)),
    resource(
      "static-text",
      { uri: "test://static-text", mimeType: "text/plain" },
      () => "A static text resource.",
    ),
    resource("static-binary", { uri: "test://static-binary", mimeType: "image/png" }, () => ({
      contents: [{ uri: "test://static-binary", mimeType: "image/png", blob: PNG }],
    })),
    resource(
      "watched-resource",
      { uri: "test://watched-resource", mimeType: "text/plain" },
      () => "Watched.",
    ),
    resource(
      "template",
      { uriTemplate: "test://template/{id}/data", mimeType: "application/json" },
      ({ id }) => ({
        id,
        templateTest: true,
        data: `Data for ID: ${id}`,
      }),
    ),
  ];
}

/** A source whose list of tools changes whenever one of its tools calls for it. */
function createFixtureSource(): Source {
  let wake = Promise.withResolvers<void>();
  return {
    id: "fixture",
    contents: async function* (signal) {
      signal.addEventListener("abort", () => wake.resolve(), { once: true });
      for (let changes = 0; !signal.aborted; changes++) {
        wake = Promise.withResolvers<void>();
        yield { domains: [DOMAIN], drafts: drafts(() => wake.resolve(), changes % 2) };
        await wake.promise;
      }
    },
  };
}

/** Serves everything that the conformance suite looks for. */
export function serveFixture(): Promise<Served> {
  return serveNative(createGateway({ domains: [], sources: [createFixtureSource()], principal: OWNER }));
}
