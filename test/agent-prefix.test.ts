import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { createGateway } from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { readSkills } from "keyhole/sources";
import { serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { createCms } from "../examples/cms/cms.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const TURNS = 30;

/** Turns that call for a skill, that find a tool and call it, and that need neither. */
const PROMPTS = ["Review the page", "Find the pages", "Write the press release", "Find an image", "Thanks"];

test("30 turns with skills and found tools have one prefix, byte for byte", async () => {
  const folder = temporaryFolder();
  for (const [name, keyword] of [
    ["page-review", "review"],
    ["press-words", "press release"],
  ] as const) {
    mkdirSync(join(folder, name), { recursive: true });
    const head = `name: ${name}\ndescription: How to do it.\ntriggers:\n  keywords: [${keyword}]`;
    writeFileSync(join(folder, name, "SKILL.md"), `---\n${head}\n---\nDo it like ${name}.`);
  }
  const { skills } = await readSkills([{ origin: "project", folder }]);
  const server = await serveScriptedModel(({ messages }) => {
    const steps = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
    const [prompt] = steps;
    const find = /^Find (?:the|an) (\w+)/.exec(prompt?.text ?? "")?.[1];
    if (find === undefined || steps.length > 4) return { text: "Done." };
    if (steps.length === 1) return { calls: [{ name: "ask", args: { query: `list ${find}` } }] };
    const op = find === "pages" ? "cms.page.list" : "cms.image.search";
    const params = find === "pages" ? {} : { query: "hero" };
    return { calls: [{ name: "get", args: { routes: [{ route: op, params }] } }] };
  });
  const cms = createCms();
  const gateway = createGateway({ domains: [cms.domain] });
  onTestFinished(async () => {
    await gateway.close();
    await cms.close();
    await server.close();
  });
  const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "key" }).chat("scripted");
  const agent = createAgent({ gateway, model, skills, mode: "fixed" });
  const session = await agent.openSession();
  for (let turn = 0; turn < TURNS; turn += 1)
    for await (const event of run(agent, `${PROMPTS[turn % PROMPTS.length]}.`, { session }))
      if (event.type === "agent-end") expect(event.outcome).toBe("answered");

  const bodies = server.requests.map(({ body }) => body as { tools: unknown; messages: unknown[] });
  expect(bodies.length).toBeGreaterThan(TURNS);
  expect(new Set(bodies.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
  for (const [index, { messages }] of bodies.entries()) {
    const before = JSON.stringify(bodies[index - 1]?.messages ?? []).slice(0, -1);
    expect(JSON.stringify(messages).startsWith(before)).toBe(true);
  }
  const whole = JSON.stringify(bodies.at(-1)!.messages);
  expect(whole).toContain("hero-mountain-dawn");
  // Each skill is there once, and stays.
  expect(whole.split("Do it like page-review.")).toHaveLength(2);
  expect(whole.split("Do it like press-words.")).toHaveLength(2);
});
