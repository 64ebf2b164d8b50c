import { spawn } from "node:child_process";
import { text as readText } from "node:stream/consumers";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { AgentHooks } from "../loop/agent.ts";
import { compileGlob } from "../permissions/match-glob.ts";

/** A command that runs at a point of a run. `tool` may have `*` for any text. */
interface Hook {
  readonly on: "prompt" | "before-tool" | "after-tool" | "end";
  readonly tool?: string | undefined;
  readonly command: string;
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_MS = 60_000;
/** Like other agents: this exit code refuses, or tells the model something; others are ignored. */
const REFUSES = 2;
const MOST_CHARS = 10_000;

/**
 * The hooks of the settings. Each command gets JSON as input. Exit code 2 refuses a call before it is made; after a
 * call, and for a prompt, the model reads what the command then wrote to stderr. A prompt's hook that succeeds adds
 * its output to the prompt. A hook that fails to run refuses nothing, and its reason is on stderr.
 */
export function createHooks(hooks: readonly Hook[], folder: string): AgentHooks {
  const on = (event: Hook["on"], tool = "") =>
    hooks.filter((hook) => hook.on === event && (hook.tool === undefined || compileGlob(hook.tool)(tool)));

  async function firstOf(event: Hook["on"], tool: string, input: object): Promise<string | undefined> {
    for (const hook of on(event, tool)) {
      const { code, stderr } = await runHook(hook, { on: event, folder, ...input }, folder);
      if (code === REFUSES) return stderr.trim() || "no reason given";
    }
    return undefined;
  }

  return {
    prompt: async (prompt) => {
      const said: string[] = [];
      for (const hook of on("prompt")) {
        const { code, stdout, stderr } = await runHook(hook, { on: "prompt", folder, prompt }, folder);
        said.push(code === 0 ? stdout : code === REFUSES ? stderr : "");
      }
      const text = said
        .map((part) => part.trim())
        .filter(Boolean)
        .join("\n");
      return text === "" ? undefined : text;
    },
    beforeTool: (call) => firstOf("before-tool", call.tool, call),
    afterTool: (call) => firstOf("after-tool", call.tool, call),
    end: async (run) => {
      for (const hook of on("end")) await runHook(hook, { on: "end", folder, ...run }, folder);
    },
  };
}

async function runHook({ command, timeoutMs = DEFAULT_MS }: Hook, input: object, cwd: string) {
  try {
    const child = spawn("/bin/sh", ["-c", command], { cwd, timeout: timeoutMs, stdio: "pipe" });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(input));
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    const [code, stdout, stderr] = await Promise.all([ended, readText(child.stdout), readText(child.stderr)]);
    return { code, stdout: stdout.slice(0, MOST_CHARS), stderr: stderr.slice(0, MOST_CHARS) };
  } catch (error) {
    console.error(`The hook ${command} did not run: ${reasonOf(error)}`);
    return { code: null, stdout: "", stderr: "" };
  }
}
