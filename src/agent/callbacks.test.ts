import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { readSkills } from "keyhole/sources";
import { createScriptedModel, inOrder } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { type AgentOptions, createAgent } from "./agent.ts";
import { readAgentsFile } from "./agents-file.ts";
import { type AgentCallbacks, askBy, withCallbacks } from "./callbacks.ts";
import { run } from "./run.ts";
import { tellRetry } from "./run-context.ts";

function openAgent(options: Partial<AgentOptions> = {}) {
  const drop = defineTool({
    name: "drop",
    op: "data.row.drop",
    description: "Drops a row",
    lane: "destructive",
    execute: async () => "dropped",
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "data", description: "Rows", tools: [drop] })],
    principal: { id: "owner", scopes: [], allowWrite: true },
  });
  onTestFinished(() => gateway.close());
  const model = createScriptedModel(
    inOrder([
      { calls: [{ name: "exec", args: { op: "data.row.drop", args: {}, dry_run: false } }] },
      { text: "It is dropped." },
    ]),
  );
  return { model, agent: createAgent({ gateway, model, mode: "fixed", ...options }) };
}

test("callbacks come in order, with the span context, and what they throw harms nothing", async () => {
  const calls: string[] = [];
  const traces = new Set<string>();
  const names = [
    "onAgentStart",
    "onLLMStart",
    "onLLMEnd",
    "onToolStart",
    "onToolEnd",
    "onAgentEnd",
    "onPermissionRequest",
  ] as const;
  const noted = names.map((name) => [
    name,
    (span: { traceId: string }, what: unknown) => {
      traces.add(span.traceId);
      calls.push(typeof what === "string" ? `${name} ${what}` : name);
      return true;
    },
  ]);
  const chunks: string[] = [];
  const callbacks: AgentCallbacks = {
    ...Object.fromEntries(noted),
    onLLMStream: (_, chunk) => {
      chunks.push(chunk);
      throw new Error("a listener fails");
    },
  };
  const { agent } = openAgent();
  const events = [];
  for await (const event of withCallbacks(run(agent, "drop it", { ask: askBy(callbacks) }), callbacks)) {
    events.push(event);
  }
  expect(calls).toEqual([
    "onAgentStart drop it",
    "onLLMStart scripted",
    "onLLMEnd ",
    "onToolStart exec",
    "onPermissionRequest",
    "onToolEnd exec",
    "onLLMStart scripted",
    "onLLMEnd It is dropped.",
    "onAgentEnd It is dropped.",
  ]);
  expect(chunks.join("")).toBe("It is dropped.");
  expect(traces.size).toBe(1);
  expect(events.at(-1)).toMatchObject({ type: "agent-end", outcome: "answered" });
});

test("without a callback for permissions they are denied", async () => {
  const { agent } = openAgent({ ask: askBy({}) });
  const ends = [];
  for await (const event of run(agent, "drop it")) if (event.type === "tool-end") ends.push(event.ok);
  expect(ends).toEqual([false]);
});

test("retries of a model are events of the run that waits for it", async () => {
  const { agent, model } = openAgent();
  const retrying = createAgent({
    ...agent.options,
    model: () => {
      tellRetry({ attempt: 1, delayMs: 5, reason: "RATE_LIMITED" });
      return model;
    },
  });
  const types = [];
  for await (const { type } of run(retrying, "drop it")) types.push(type);
  expect(types.filter((type) => type === "llm-retry")).toHaveLength(2);
});

test("the model is told what the project says and what the prompt calls for of the skills", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".git"));
  mkdirSync(join(folder, "src", "deep"), { recursive: true });
  writeFileSync(join(folder, "AGENTS.md"), "Use tabs.\u200b");
  const skill = join(folder, "skills", "drop-rows");
  mkdirSync(skill, { recursive: true });
  const manifest =
    "---\nname: drop-rows\ndescription: How to drop.\ntriggers:\n  keywords: [drop]\n---\nMind the index.";
  writeFileSync(join(skill, "SKILL.md"), manifest);
  const { skills } = await readSkills([{ origin: "project", folder: join(folder, "skills") }]);
  const { agent, model } = openAgent({
    folder: join(folder, "src", "deep"),
    skills,
    instructions: "Be kind.",
  });
  for await (const _ of run(agent, "please drop it"));
  for await (const _ of run(agent, "write a poem"));
  const told = model.requests.map(({ messages }) => messages[0]?.text ?? "");
  expect(told[0]).toMatch(/^Be kind\.[\s\S]*Use tabs\.\n[\s\S]*Mind the index\./);
  expect(told.at(-1)).toContain("[1 skill available]");
  expect(told.at(-1)).not.toContain("Mind the index");
});

test("AGENTS.md is the nearest, within the project, and bounded", async () => {
  const folder = temporaryFolder();
  const project = join(folder, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(folder, "AGENTS.md"), "of nobody's");
  expect(await readAgentsFile(project)).toBeUndefined();
  writeFileSync(join(project, "AGENTS.md"), "é".repeat(40_000));
  expect((await readAgentsFile(project))?.text).toBe("é".repeat(16_384));
  mkdirSync(join(project, "part", "AGENTS.md"), { recursive: true });
  expect((await readAgentsFile(join(project, "part")))?.path).toBe(join(project, "AGENTS.md"));
});
