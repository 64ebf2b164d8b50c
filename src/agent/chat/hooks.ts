import { spawn } from "node:child_process";
import { text as readText } from "node:stream/consumers";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { AgentHooks } from "../loop/agent.ts";
import type { HookedCall } from "../loop/run-context.ts";
import { compileGlob } from "../permissions/match-glob.ts";

/** A command that runs at a point of a run. `tool` may have `*` for any text. */
interface Hook {
  readonly on: "prompt" | "before-tool" | "after-tool" | "end";
  readonly tool?: string | undefined;
  readonly command: string;
  readonly timeoutMs?: number | undefined;
  /** Lets a call go on although the hook before it failed. Default: a failed hook refuses. */
  readonly mayFail?: boolean | undefined;
}

const DEFAULT_MS = 60_000;
/** Like other agents: this exit code refuses, or tells the model something. */
const REFUSES = 2;
const MOST_CHARS = 10_000;

/**
 * The hooks of the settings. Each command gets JSON as input. Exit code 2 refuses a call before it is made; after a
 * call, and for a prompt, the model reads what the command then wrote to stderr. A prompt's hook that succeeds adds
 * its output to the prompt. A hook before a call that fails in any other way refuses it too, unless it may fail.
 */
export function createHooks(hooks: readonly Hook[], folder: string): AgentHooks {
  const on = (event: Hook["on"]) => hooks.filter((hook) => hook.on === event);

  async function firstOf(
    event: Hook["on"],
    { aliases = [], within, ...call }: HookedCall,
  ): Promise<string | undefined> {
    const names = [call.tool, ...aliases];
    for (const hook of on(event)) {
      const isOf = hook.tool === undefined ? () => true : compileGlob(hook.tool);
      // The call of the model was this very tool, and the hook has judged it.
      const isDone = within !== undefined && names.includes(within) && isOf(within);
      if (isDone || !names.some(isOf)) continue;
      const { code, stderr, failure } = await runHook(hook, { on: event, folder, ...call }, folder);
      if (code === REFUSES) return stderr.trim() || "no reason given";
      if (event === "before-tool" && code !== 0 && !hook.mayFail)
        return `the hook ${hook.command} failed: ${failure ?? `exit code ${code}`}`;
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
    beforeTool: (call) => firstOf("before-tool", call),
    afterTool: (call) => firstOf("after-tool", call),
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
    const failure = code === null ? `it was ended after ${timeoutMs} ms` : undefined;
    return { code, stdout: stdout.slice(0, MOST_CHARS), stderr: stderr.slice(0, MOST_CHARS), failure };
  } catch (error) {
    const failure = reasonOf(error);
    console.error(`The hook ${command} did not run: ${failure}`);
    return { code: null, stdout: "", stderr: "", failure };
  }
}
