import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createGateway } from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { readSkills } from "keyhole/sources";
import { type ModelScript, type ScriptedRequest, serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { createCms } from "../examples/cms/cms.ts";
import { chatPlace, plant } from "./chat-kit.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const TURNS = 30;

/** Turns that call for a skill, that find a tool and call it, and that need neither. */
const PROMPTS = ["Review the page", "Find the pages", "Write the press release", "Find an image", "Thanks"];
const LINES = Array.from({ length: TURNS }, (_, turn) => `${PROMPTS[turn % PROMPTS.length]}.`);

const skillFile = (name: string, keyword: string) =>
  `---\nname: ${name}\ndescription: How to do it.\ntriggers:\n  keywords: [${keyword}]\n---\nDo it like ${name}.`;
const SKILLS = {
  "page-review/SKILL.md": skillFile("page-review", "review"),
  "press-words/SKILL.md": skillFile("press-words", "press release"),
};

/** Searches for what a prompt wants to find, calls the tool, and answers. */
function scriptFor(opOf: (wanted: string) => [op: string, params: object]): ModelScript {
  return ({ messages }) => {
    const steps = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
    const find = /^Find (?:the|an) (\w+)/.exec(steps[0]?.text ?? "")?.[1];
    if (find === undefined || steps.length > 4) return { text: "Done." };
    if (steps.length === 1) return { calls: [{ name: "ask", args: { query: `list ${find}` } }] };
    const [route, params] = opOf(find);
    return { calls: [{ name: "get", args: { routes: [{ route, params }] } }] };
  };
}

/** Each request has all of the one before it, byte for byte, and goes on from there. */
function expectOnePrefix(requests: readonly ScriptedRequest[]): string {
  const bodies = requests.map(({ body }) => body as { tools: unknown; messages: unknown[] });
  expect(bodies.length).toBeGreaterThan(TURNS);
  expect(new Set(bodies.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
  for (const [index, { messages }] of bodies.entries()) {
    const before = JSON.stringify(bodies[index - 1]?.messages ?? []).slice(0, -1);
    expect(JSON.stringify(messages).startsWith(before)).toBe(true);
  }
  const whole = JSON.stringify(bodies.at(-1)!.messages);
  // Each skill is there once, and stays.
  expect(whole.split("Do it like page-review.")).toHaveLength(2);
  expect(whole.split("Do it like press-words.")).toHaveLength(2);
  return whole;
}

test("30 turns with skills and found tools have one prefix, byte for byte", async () => {
  const folder = temporaryFolder();
  plant(folder, SKILLS);
  const { skills } = await readSkills([{ origin: "project", folder }]);
  const server = await serveScriptedModel(
    scriptFor((wanted) =>
      wanted === "pages" ? ["cms.page.list", {}] : ["cms.image.search", { query: "hero" }],
    ),
  );
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
  for (const line of LINES)
    for await (const event of run(agent, line, { session }))
      if (event.type === "agent-end") expect(event.outcome).toBe("answered");
  expect(expectOnePrefix(server.requests)).toContain("hero-mountain-dawn");
});

test("Anthropic is told to keep the tools with the instructions, and the messages up to the last ones", async () => {
  const server = await serveScriptedModel(() => ({ text: "Done." }));
  const gateway = createGateway({ domains: [] });
  onTestFinished(async () => {
    await gateway.close();
    await server.close();
  });
  const model = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: "key" })("scripted");
  const agent = createAgent({ gateway, model, mode: "fixed" });
  const session = await agent.openSession();
  for (const line of ["one", "two", "three"]) await Array.fromAsync(run(agent, line, { session }));
  const { tools, system, messages } = server.requests.at(-1)!.body as Record<string, { content?: unknown }[]>;
  const isMarked = (part: unknown) => JSON.stringify(part).includes('"cache_control":{"type":"ephemeral"}');
  expect(tools!.some(isMarked)).toBe(false);
  expect(system!.map(isMarked)).toEqual([true]);
  expect(messages!.map(isMarked)).toEqual([false, false, true, false, true]);
});

test("so have 30 turns of the chat as it is installed, with a server of the person", async () => {
  const skills = Object.entries(SKILLS).map(([path, content]) => [`.keyhole/skills/${path}`, content]);
  const { model, folder, env } = await chatPlace(
    scriptFor(() => ["tasks.list_tasks", {}]),
    {
      home: Object.fromEntries(skills),
      files: {
        "servers.json": JSON.stringify({
          mcpServers: {
            tasks: { command: process.execPath, args: [resolve("examples/upstream/tasks-server.ts")] },
          },
        }),
      },
    },
  );
  const words = [resolve("src/program/main.ts"), "chat", "--plain", "--config", "servers.json", "--trust"];
  const chat = spawn(process.execPath, words, { cwd: folder, env });
  chat.stdin.end(LINES.map((line) => `${line}\n`).join(""));
  const [said, problems, [code]] = await Promise.all([
    text(chat.stdout),
    text(chat.stderr),
    once(chat, "close"),
  ]);
  expect(code, said + problems).toBe(0);
  expect(expectOnePrefix(model.requests)).toContain("tasks://tools/list_tasks");
});
