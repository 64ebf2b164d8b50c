import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Client, type ClientCapabilities } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished } from "vitest";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { listedHash, openProgram } from "../threats/program.ts";
import { eventually } from "../upstream-kit.ts";
import { write } from "./kit.ts";

/** A client as its person starts it. */
export interface StartedClient {
  /** The folder that it runs in. Default: the home of the person. */
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly capabilities?: ClientCapabilities;
  /** Whether it speaks the revision of 2026. */
  readonly isModern?: boolean;
  /** Arguments that it adds to those of its config. */
  readonly serve?: readonly string[];
}

/** A server of npm that is a development dependency. */
export function npmServer(name: string, ...args: string[]): { command: string; args: string[] } {
  const program = resolve(`node_modules/@modelcontextprotocol/${name}/dist/index.js`);
  return { command: process.execPath, args: [program, ...args] };
}

/** A person whose Claude Code has these servers, connected and approved. */
export async function connectPerson(servers: object) {
  const home = temporaryFolder();
  const { keyhole } = openProgram({ home, folder: home });
  onTestFinished(async () => {
    await keyhole("serve", "--stop");
  });
  const path = join(home, ".claude.json");
  write(path, JSON.stringify({ mcpServers: servers }));
  expect(await keyhole("connect", "claude-code", "--yes")).toMatchObject({ code: 0 });
  /** Approves everything that waits. A busy machine may list a server late, so that the hash changes. */
  const approveAll = () =>
    eventually(async () => {
      const { out } = await keyhole("approve");
      expect((await keyhole("approve", "--hash", listedHash(out))).out).toContain("Approved");
    }, 60_000);
  await approveAll();
  const { command, args } = JSON.parse(readFileSync(path, "utf8")).mcpServers.keyhole;
  /** Starts exactly the program that the client's file names. */
  async function start(started: StartedClient = {}) {
    const { folder = home, env, capabilities = {}, isModern = false, serve = [] } = started;
    const client = new Client(
      { name: "claude-code", version: "1" },
      { capabilities, ...(isModern && { versionNegotiation: { mode: "auto" } }) },
    );
    let roots = [folder];
    if (capabilities.roots)
      client.setRequestHandler("roots/list", () => ({
        roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
      }));
    const connect = () =>
      client.connect(
        new StdioClientTransport({
          command,
          args: [...args, ...serve],
          cwd: folder,
          env: { ...programEnv(home), ...env },
          stderr: "ignore",
        }),
      );
    const call = async (name: string, input: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: input });
      return (content as { text: string }[])[0]?.text ?? "";
    };
    return {
      client,
      connect: async () => {
        await connect();
        onTestFinished(() => client.close());
        return call;
      },
      changeRoots: async (...folders: string[]) => {
        roots = folders;
        await client.sendRootsListChanged();
      },
    };
  }
  return { home, keyhole, approveAll, start };
}
