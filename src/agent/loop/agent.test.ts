import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { readSkills } from "keyhole/sources";
import { createScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { type AgentOptions, createAgent } from "./agent.ts";
import { readAgentsFiles } from "./agents-files.ts";
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
  const model = createScriptedModel([
    { calls: [{ name: "exec", args: { op: "data.row.drop", args: {}, dry_run: false } }] },
    { text: "It is dropped." },
  ]);
  return { model, agent: createAgent({ gateway, model, mode: "fixed", ...options }) };
}

test("a retry of the model is an event of the run", async () => {
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

test("the model reads AGENTS.md and the skills that the prompt calls for", async () => {
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
  const session = await agent.openSession();
  for (const prompt of ["please drop it", "write a poem", "drop it again", "which skills are there?"])
    for await (const _ of run(agent, prompt, { session }));
  const system = model.requests.map(({ messages }) => messages[0]?.text ?? "");
  expect(system[0]).toMatch(/^Be kind\.[\s\S]*Use tabs\.\\u200b\n[\s\S]*\[1 skill available\]$/);
  expect(new Set(system).size).toBe(1);
  // A skill that a prompt calls for is a note in the conversation: there once, and from then on.
  const turns = model.requests.at(-1)!.messages.filter(({ role }) => role === "user");
  const first = "please drop it\n[Skills for this request]\n# Skill: drop-rows (project)\n\nMind the index.";
  expect(turns.map(({ text }) => text)).toEqual([
    first,
    "write a poem",
    "drop it again",
    expect.stringMatching(
      /^which skills are there\?\n\[Skills for this request\]\nSkills.*:\n- drop-rows: How to drop\./,
    ),
  ]);
});

test("every AGENTS.md within the project is read, the nearest last, each up to its size limit", async () => {
  const folder = temporaryFolder();
  const project = join(folder, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(folder, "AGENTS.md"), "of nobody's");
  expect(await readAgentsFiles(project)).toEqual([]);
  writeFileSync(join(project, "AGENTS.md"), "é".repeat(40_000));
  expect((await readAgentsFiles(project)).at(-1)?.text).toBe("é".repeat(16_384));
  mkdirSync(join(project, "part", "AGENTS.md"), { recursive: true });
  expect((await readAgentsFiles(join(project, "part"))).at(-1)?.path).toBe(join(project, "AGENTS.md"));
  writeFileSync(join(project, "part", "CLAUDE.md"), "for Claude");
  const user = temporaryFolder();
  writeFileSync(join(user, "AGENTS.md"), "of the person");
  const all = await readAgentsFiles(join(project, "part"), user);
  expect(all.map(({ text }) => text.slice(0, 13))).toEqual(["of the person", "é".repeat(13), "for Claude"]);
});
