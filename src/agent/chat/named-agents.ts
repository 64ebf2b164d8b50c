import { join } from "node:path";
import { MODEL_FACTS } from "../models/providers/model-facts.ts";
import { compileGlob } from "../permissions/match-glob.ts";
import type { Fact } from "../tui/chat-agent.ts";
import { readMarkdownFiles } from "./custom-commands.ts";

/** The folders of a folder that hold sub-agents as Markdown files. */
export const AGENT_FOLDERS = [join(".agents", "agents"), join(".claude", "agents")];
const MOST_AGENTS = 50;
const MOST_CHARS = 300;

/** A sub-agent that a person or a trusted project has described in a file. */
export interface NamedAgent {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** The ops of its tools, perhaps with `*`; undefined for all of the agent that it works for. */
  readonly tools?: readonly string[];
  /** As the file says it; undefined for that of the agent that it works for. */
  readonly model?: string;
}

/** Reads the sub-agents of these places. The first one of a name counts. */
export async function readNamedAgents(places: readonly string[]): Promise<NamedAgent[]> {
  const files = await readMarkdownFiles(places, AGENT_FOLDERS);
  const agents = files.slice(0, MOST_AGENTS).map(({ name: path, data, text }): NamedAgent => {
    const { description, model, tools } = data;
    const name = typeof data.name === "string" && /^[\w.:-]{1,64}$/.test(data.name) ? data.name : path;
    return {
      name,
      description: (typeof description === "string" ? description : text.split("\n", 1)[0]!).slice(
        0,
        MOST_CHARS,
      ),
      instructions: text,
      ...(tools !== undefined && tools !== null && { tools: toOps(tools) }),
      ...(typeof model === "string" && model !== "inherit" && { model }),
    };
  });
  return agents.filter(({ name }, at) => agents.findIndex((each) => each.name === name) === at);
}

export function agentFacts(agents: readonly NamedAgent[]): Fact[] {
  return agents.map(({ name, description, tools, model }) => ({
    name,
    text: [
      description,
      ...(tools ? [`tools: ${tools.join(", ") || "none"}`] : []),
      ...(model ? [`model: ${model}`] : []),
    ].join(" · "),
  }));
}

/** Whether one of the patterns covers a tool. */
export function coversTool(ops: readonly string[], op: string): boolean {
  return ops.some((each) => compileGlob(each)(op));
}

/**
 * The name of a model for a provider. The short names of Claude Code's files (`sonnet`) are the newest such models, and
 * mean nothing to other providers.
 */
export function modelFor(model: string | undefined, provider: string): string | undefined {
  if (model === undefined || !/^(?:sonnet|opus|haiku|fable)$/.test(model)) return model;
  if (provider !== "anthropic") return undefined;
  return MODEL_FACTS.find((facts) => facts.provider === provider && facts.name.includes(`-${model}-`))?.name;
}

/** Tools by the names that Claude Code gives them. */
const CLAUDE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  Bash: ["workspace.shell", "desk.background"],
  Edit: ["workspace.edit"],
  Glob: ["workspace.list", "workspace.search"],
  Grep: ["workspace.search"],
  LS: ["workspace.list"],
  MultiEdit: ["workspace.edit"],
  Read: ["workspace.read"],
  TodoWrite: ["desk.todo"],
  WebFetch: ["desk.fetch"],
  Write: ["workspace.write"],
};

/** A list, or names with commas between them. A name that nobody has gives nothing. */
function toOps(tools: unknown): string[] {
  const names = Array.isArray(tools) ? tools : String(tools).split(",");
  return names.flatMap((given) => {
    const name = String(given).trim();
    if (name === "") return [];
    const server = /^mcp__([\w-]+?)(?:__(.+))?$/.exec(name);
    if (server) return [`${server[1]}.${server[2] ?? "*"}`];
    if (Object.hasOwn(CLAUDE_TOOLS, name)) return CLAUDE_TOOLS[name]!;
    return name.includes(".") ? [name] : [`workspace.${name}`, `desk.${name}`];
  });
}
