import { mkdirSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { Client, type Transport } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { onTestFinished } from "vitest";
import { type Daemon, startDaemon } from "../src/program/daemon/daemon.ts";
import { DaemonConfigs } from "../src/program/daemon/daemon-configs.ts";
import { type DaemonPaths, daemonPaths } from "../src/program/daemon/daemon-paths.ts";
import type { ServeRequest } from "../src/program/daemon/handshake.ts";
import { reachDaemon } from "../src/program/daemon/reach-daemon.ts";
import { relay } from "../src/program/daemon/relay.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

export interface Person {
  readonly folder: string;
  readonly paths: DaemonPaths;
  /** The daemons that clients have started, in this process. */
  readonly daemons: Daemon[];
  /** Writes a config with one server. Returns its path. */
  config(label: string, server?: object): string;
  start(version?: string, idleMs?: number): Promise<Daemon>;
  /** A client that goes through a relay, as `keyhole serve` does. */
  client(options: ClientOptions): Promise<Connected>;
}

export interface ClientOptions extends Partial<ServeRequest> {
  readonly config: string;
  readonly version?: string;
}

export interface Connected {
  readonly client: Client;
  readonly call: (name: string, args: Record<string, unknown>) => Promise<string>;
  /** The connection to the daemon in use. */
  socket(): Socket | undefined;
}

/** Folders of a person, whose daemons run in this process. */
export function createPerson(): Person {
  const folder = temporaryFolder();
  setVariable("KEYHOLE_STATE", join(folder, "state"));
  setVariable("XDG_CACHE_HOME", folder);
  const paths = daemonPaths({ state: join(folder, "state"), cache: folder, home: folder });
  const daemons: Daemon[] = [];
  const start = async (version = "0.1.0", idleMs = 600_000) => {
    const configs = new DaemonConfigs({ idleMs, stored: paths.stored });
    const daemon = await startDaemon({ paths, version, idleMs, checkMs: 50, configs });
    const ended = daemon.ended.then(() => configs.close());
    daemons.push({ ...daemon, ended });
    return { ...daemon, ended };
  };
  const inputs: PassThrough[] = [];
  onTestFinished(async () => {
    for (const input of inputs) input.end();
    for (const daemon of daemons) daemon.stop();
    await Promise.all(daemons.map(({ ended }) => ended));
  });
  return {
    folder,
    paths,
    daemons,
    config: (label, server = { command: process.execPath, args: [CHAOS] }) => {
      const path = join(folder, `${label}.json`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, JSON.stringify({ mcpServers: { [label]: server } }));
      return path;
    },
    start,
    client: async ({ version = "0.1.0", ...request }) => {
      const serve = {
        surface: "lanes" as const,
        shortcut: [],
        allowWrite: true,
        trust: true,
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: folder },
        ...request,
      };
      const [input, output] = [new PassThrough(), new PassThrough()];
      let socket: Socket | undefined;
      const reach = async () => {
        ({ socket } = await reachDaemon({
          paths,
          version,
          serve,
          start: async () => {
            void start(version);
            return { hasEnded: () => false };
          },
        }));
        return socket;
      };
      inputs.push(input);
      const relayed = relay({ input, output, reach });
      relayed.catch(() => {});
      const client = new Client({ name: "test", version: "1" });
      // A failure of the relay is a failure of the connection.
      await Promise.race([client.connect(lines(output, input)), relayed]);
      const call = async (name: string, args: Record<string, unknown>) => {
        const { content } = await client.callTool({ name, arguments: args });
        return (content as { text: string }[])[0]?.text ?? "";
      };
      return { client, call, socket: () => socket };
    },
  };
}

/** The SDK's stdio transport of servers reads and writes lines of any two streams. */
function lines(from: PassThrough, to: PassThrough): Transport {
  return new StdioServerTransport(from, to) as unknown as Transport;
}

function setVariable(name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}
