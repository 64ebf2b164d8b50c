import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AgentEvent, run } from "keyhole/agent";
import { type ModelScript, type ScriptedRequest, serveScriptedModel } from "keyhole/testing";
import { onTestFinished, vi } from "vitest";
import type { RunOptions } from "../../src/agent/loop/run.ts";
import { openAgent } from "../../src/program/open/open-agent.ts";
import { giveTrust, trustRequest } from "../../src/program/open/trust-folder.ts";
import { temporaryFolder } from "../temporary-folder.ts";

type Files = Readonly<Record<string, string>>;

export interface Surroundings {
  /** The user's `settings.json`. */
  readonly settings?: object;
  /** Files of the user's home. */
  readonly home?: Files;
  readonly project?: Files;
  /** Trusts the project's folder as `keyhole approve .` does. */
  readonly trusted?: boolean;
}

export type End = Extract<AgentEvent, { type: "agent-end" }>;

/** Opens the agent of `keyhole chat --print` with a home, a project, and a scripted model behind HTTP. */
export async function openTerminalAgent(script: ModelScript, surroundings: Surroundings = {}) {
  const server = await serveScriptedModel(script);
  const [home, project] = [temporaryFolder(), temporaryFolder()];
  const local = { baseUrl: `${server.url}/v1`, model: "phi4" };
  const { settings = {} } = surroundings;
  const all = { providers: { default: "local", local }, retry: { enabled: false }, ...settings };
  saveFiles(home, { ".keyhole/settings.json": JSON.stringify(all), ...surroundings.home });
  saveFiles(project, surroundings.project ?? {});
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_CACHE_HOME", join(home, "cache"));
  const told: string[] = [];
  const errors = vi.spyOn(console, "error").mockImplementation((...words) => void told.push(words.join(" ")));
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    errors.mockRestore();
    await server.close();
  });
  if (surroundings.trusted) await giveTrust(await trustRequest(project));
  const opened = await openAgent({ folder: project });
  const session = await opened.agent.openSession();
  const close = async () => {
    await session.end();
    await opened.close();
  };
  onTestFinished(close);
  const ask = async (prompt: string, options: Pick<RunOptions, "output"> = {}) => {
    const events = await Array.fromAsync(opened.observe(run(opened.agent, prompt, { session, ...options })));
    return { events, end: events.at(-1) as End };
  };
  return { ...opened, close, server, home, project, session, told, ask };
}

export function saveFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** The instructions of a request. */
export function instructionsOf(request: ScriptedRequest | undefined): string {
  return request?.messages.find(({ role }) => role === "system")?.text ?? "";
}
