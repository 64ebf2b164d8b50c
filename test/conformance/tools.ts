import type { CallingClient } from "../../src/core/nouns/entry.ts";

/** The work of a fixture tool, with the client that called it. */
type Run = (client: CallingClient, args: Record<string, unknown>) => unknown;

/** An image of one black pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/** An audio header without sound. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const text = (words: string) => ({ content: [{ type: "text", text: words }] });
const image = { type: "image", data: PNG, mimeType: "image/png" };

const resource = (uri: string, mimeType: string, body: string) => ({
  type: "resource",
  resource: { uri, mimeType, text: body },
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

function ask(message: string, properties: object, required: readonly string[] = []) {
  const requestedSchema = { type: "object", properties, required };
  return { method: "elicitation/create", params: { message, requestedSchema } };
}

function sample(words: string, maxTokens = 100) {
  const messages = [{ role: "user", content: { type: "text", text: words } }];
  return { method: "sampling/createMessage", params: { messages, maxTokens } };
}

const roots = { method: "roots/list", params: {} };
const name = ask("What is your name?", { name: { type: "string" } }, ["name"]);

const needs = (inputRequests: object, requestState?: string) => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState && { requestState }),
});

/** The fields of an accepted form. */
function filled(client: CallingClient, key: string, field: string): unknown {
  const answer = client.responses[key] as { action?: string; content?: Record<string, unknown> } | undefined;
  return answer?.action === "accept" ? answer.content?.[field] : undefined;
}

/** Asks until the field is present, then confirms it. */
const untilFilled =
  (key: string, field: string, question: object, done: (value: unknown) => unknown): Run =>
  (client) => {
    const value = filled(client, key, field);
    return value === undefined ? needs({ [key]: question }) : done(value);
  };

const elicited =
  (properties: object, required: readonly string[] = []): Run =>
  ({ responses }, args) => {
    const { form } = responses;
    if (!form) return needs({ form: ask(String(args.message ?? "Please fill in"), properties, required) });
    const { action, content } = form as { action: string; content?: unknown };
    return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
  };

const choices = (...values: string[]) => values.map((value) => ({ const: value, title: `The ${value}` }));
const confirm = ask("Please confirm", { ok: { type: "boolean" } }, ["ok"]);

export const TOOLS: Readonly<Record<string, Run>> = {
  test_simple_text: () => text("This is a simple text response for testing."),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] }),
  test_embedded_resource: () => ({
    content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: () => {
    throw new Error("This tool intentionally returns an error for testing");
  },
  test_tool_with_logging: async ({ log }) => {
    for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      log("info", words);
      await pause();
    }
    return text("Logged three times.");
  },
  test_logging_tool: ({ log }) => {
    log("info", "Only for those who asked");
    return text("Logged.");
  },
  test_tool_with_progress: async ({ progress }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100 });
      await pause();
    }
    return text("Done.");
  },
  test_sampling: ({ responses }, args) =>
    responses.answer
      ? text(`LLM response: ${JSON.stringify(responses.answer)}`)
      : needs({ answer: sample(String(args.prompt)) }),
  test_elicitation: elicited({ username: { type: "string" }, email: { type: "string" } }, [
    "username",
    "email",
  ]),
  test_elicitation_sep1034_defaults: elicited({
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  }),
  test_elicitation_sep1330_enums: elicited({
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: choices("value1", "value2", "value3") },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
    titledMulti: { type: "array", items: { anyOf: choices("value1", "value2", "value3") } },
  }),
  test_missing_capability: ({ responses }) =>
    responses.answer ? text("Sampled.") : needs({ answer: sample("Say something") }),
  test_streaming_elicitation: untilFilled("user_name", "name", name, (value) => text(`Hello, ${value}!`)),
  test_input_required_result_elicitation: untilFilled("user_name", "name", name, (value) =>
    text(`Hello, ${value}!`),
  ),
  test_input_required_result_sampling: ({ responses }) =>
    responses.capital_question
      ? text(JSON.stringify(responses.capital_question))
      : needs({ capital_question: sample("What is the capital of France?") }),
  test_input_required_result_list_roots: ({ responses }) =>
    responses.client_roots ? text(JSON.stringify(responses.client_roots)) : needs({ client_roots: roots }),
  test_input_required_result_request_state: (client) =>
    client.state === "asked" && filled(client, "confirm", "ok") !== undefined
      ? text("state-ok")
      : needs({ confirm }, "asked"),
  test_input_required_result_tampered_state: (client) =>
    client.state === "asked" ? text("state-ok") : needs({ confirm }, "asked"),
  test_input_required_result_multiple_inputs: ({ responses, state }) =>
    state && ["user_name", "greeting", "client_roots"].every((key) => responses[key])
      ? text("All three.")
      : needs({ user_name: name, greeting: sample("Generate a greeting", 50), client_roots: roots }, "asked"),
  test_input_required_result_multi_round: (client) => {
    const given = filled(client, "step1", "name");
    const color = filled(client, "step2", "color");
    if (client.state?.startsWith("2:") && color) return text(`${client.state.slice(2)} likes ${color}.`);
    if (client.state === "1" && given) {
      const question = ask("Step 2: What is your favorite color?", { color: { type: "string" } }, ["color"]);
      return needs({ step2: question }, `2:${given}`);
    }
    return needs({ step1: ask("Step 1: What is your name?", { name: { type: "string" } }, ["name"]) }, "1");
  },
  test_input_required_result_capabilities: ({ capabilities, responses }) => {
    if (Object.keys(responses).length > 0) return text("Answered.");
    return needs({
      ...(capabilities.elicitation !== undefined && { user_name: name }),
      ...(capabilities.sampling !== undefined && { greeting: sample("Generate a greeting") }),
    });
  },
};

/** A prompt that asks the client for its context first. */
export const askingPrompt: Run = untilFilled(
  "user_context",
  "context",
  ask("What context should the prompt use?", { context: { type: "string" } }, ["context"]),
  (context) => `Use this context: ${context}`,
);
