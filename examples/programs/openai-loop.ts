// A loop over OpenAI's API: the model is shown four tools, and each call becomes the message to send back.
import assert from "node:assert/strict";
import { createGateway, defineDomain, defineTool, type OpenAIToolCall, toOpenAITools } from "keyhole";
import { serveScriptedModel } from "keyhole/testing";

const time = defineTool({ name: "get_time", description: "Tell the time.", execute: () => "12:00" });
const office = defineDomain({ name: "office", description: "Office life.", tools: [time] });
const gateway = createGateway({ domains: [office] });
const { tools, call } = await toOpenAITools(gateway);
// A script plays the model. Put https://api.openai.com in place of its address.
const script = [{ calls: [{ name: "get", args: { routes: ["office.get_time"] } }] }, { text: "Noon." }];
const model = await serveScriptedModel(script);
type Reply = { choices: [{ message: { tool_calls?: OpenAIToolCall[] } }] };
const messages: object[] = [{ role: "user", content: "What time is it?" }];
for (let calls: OpenAIToolCall[] | undefined = []; calls; ) {
  for (const each of calls) messages.push(await call(each));
  const body = JSON.stringify({ model: "gpt-5", tools, messages });
  const response = await fetch(`${model.url}/v1/chat/completions`, { method: "POST", body });
  const { message } = ((await response.json()) as Reply).choices[0];
  messages.push(message);
  calls = message.tool_calls;
}
assert.match(JSON.stringify(messages), /12:00.*Noon/);
for (const part of [model, gateway]) await part.close();
