import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { createScriptedModel, type ModelScript } from "keyhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHooks } from "../../src/agent/chat/hooks.ts";
import { createAgent } from "../../src/agent/loop/agent.ts";
import type { AgentEvent } from "../../src/agent/loop/agent-event.ts";
import { run } from "../../src/agent/loop/run.ts";
import { createPermissions } from "../../src/agent/permissions/permissions.ts";
import { createAgentTools } from "../../src/agent/tools/agent-tools.ts";
import { workspaceDomain } from "../../src/agent/workspace/workspace-domain.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const COMMAND = "touch ran";
const REFUSES = { on: "before-tool", command: "echo not today >&2; exit 2" } as const;

interface Case {
  readonly tool?: string;
  readonly call: { readonly name: string; readonly args: Readonly<Record<string, unknown>> };
  readonly mode?: "fixed" | "discover";
}

/** Lets an agent make one call, with hooks. Every question is answered with yes. */
async function make(
  hooks: Parameters<typeof createHooks>[0],
  script: ModelScript,
  mode: Case["mode"] = "fixed",
) {
  const folder = temporaryFolder();
  const permissions = createPermissions({ root: folder });
  const desk = createAgentTools({ permissions });
  const gateway = createGateway({
    domains: [workspaceDomain({ permissions }), desk.domain],
    principal: { id: "me", scopes: [], allowWrite: true },
    approve: () => true,
  });
  onTestFinished(async () => {
    await desk.close();
    await gateway.close();
  });
  const model = createScriptedModel(script);
  const agent = createAgent({
    gateway,
    model,
    mode,
    hands: ["workspace", "desk"],
    hooks: createHooks(hooks, folder),
  });
  desk.use(agent);
  const events: AgentEvent[] = [];
  for await (const event of run(agent, "Go", { ask: async () => "once" })) events.push(event);
  return { events, folder, ran: existsSync(join(folder, "ran")) };
}

const shell = { command: COMMAND };
const op = "workspace.shell";
const WAYS: Record<string, Case["call"]> = {
  "its own name": { name: "shell", args: shell },
  exec: { name: "exec", args: { op, args: shell } },
  "exec by route": { name: "exec", args: { op: "workspace://tools/shell", args: shell } },
  "exec by its short name": { name: "exec", args: { op: "shell", args: shell } },
  get: { name: "get", args: { routes: [{ route: "workspace://tools/shell", params: shell }] } },
  "a background command": { name: "background", args: shell },
  "a background command by exec": { name: "exec", args: { op: "desk.background", args: shell } },
};

describe("hooks match what runs", () => {
  test.each(
    Object.keys(WAYS).flatMap((way) => ["shell", "workspace.shell", "sh*", "*"].map((tool) => [tool, way])),
  )("T22: a hook on %s refuses a command by %s", async (tool, way) => {
    const calls = [WAYS[way!]!];
    const { ran, events } = await make([{ ...REFUSES, tool: tool! }], [{ calls }, { text: "Well." }]);
    expect(ran).toBe(false);
    expect(events.at(-1)).toMatchObject({ type: "agent-end" });
  });

  test("T22: a hook on shell refuses a command of a sub-agent", async () => {
    const script: ModelScript = ({ messages }) => {
      if (messages.at(-1)?.role === "tool") return { text: "Done." };
      const isHelper = !messages.some(({ text }) => text === "Go");
      if (isHelper) return { calls: [WAYS.exec!] };
      return { calls: [{ name: "task", args: { task: "Touch it" } }] };
    };
    expect((await make([{ ...REFUSES, tool: "shell" }], script)).ran).toBe(false);
  });

  test.each(Object.keys(WAYS))(
    "a command by %s runs where no hook matches, and after hooks hear of it",
    async (way) => {
      const hooks = [
        { ...REFUSES, tool: "edit" },
        { on: "after-tool", tool: "shell", command: "touch heard" } as const,
      ];
      const { folder, events } = await make(hooks, [{ calls: [WAYS[way]!] }, { text: "Well." }]);
      const refusals = events.filter((event) => event.type === "tool-end" && event.text.includes("hook"));
      expect(refusals).toEqual([]);
      const made = events.find(({ type }) => type === "tool-end");
      if (made?.type === "tool-end" && made.ok) expect(existsSync(join(folder, "heard"))).toBe(true);
    },
  );

  test("a hook runs once for a call of the tool itself", async () => {
    const count = { on: "before-tool", command: "echo x >> count" } as const;
    const { folder } = await make([count], [{ calls: [WAYS["its own name"]!] }, { text: "Well." }]);
    expect(readFileSync(join(folder, "count"), "utf8")).toBe("x\n");
  });
});
