import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Packages } from "../install-packages.ts";
import type { Servers } from "./gateway-peer.ts";
import { UPSTREAM } from "./marked-processes.ts";

/** The fifth server; the others are there for the tests. */
export const FIFTH: Packages = { "@modelcontextprotocol/server-github": "2025.4.8" };

const OFFICIAL = resolve("node_modules/@modelcontextprotocol");
const CHAOS = resolve("src/testing/chaos-upstream.ts");

export interface FiveServers {
  readonly servers: Servers;
  /** A text file that the files server may read. */
  readonly file: string;
  readonly fileText: string;
}

/** The same five real servers for every system: 63 tools. */
export async function fiveServers(folder: string, fifth: string, mark: string): Promise<FiveServers> {
  const shared = join(folder, "shared");
  await mkdir(shared, { recursive: true });
  const [file, fileText] = [join(shared, "notes.txt"), "The key is under the third flower pot.\n"];
  await writeFile(file, fileText);
  const env = { [UPSTREAM]: mark };
  const node = (path: string, ...args: string[]) => ({
    command: process.execPath,
    args: [path, ...args],
    env,
  });
  const memory = node(join(OFFICIAL, "server-memory/dist/index.js"));
  return {
    servers: {
      everything: node(join(OFFICIAL, "server-everything/dist/index.js")),
      files: node(join(OFFICIAL, "server-filesystem/dist/index.js"), shared),
      memory: { ...memory, env: { ...env, MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
      thinking: node(join(OFFICIAL, "server-sequential-thinking/dist/index.js")),
      github: node(join(fifth, "node_modules/@modelcontextprotocol/server-github/dist/index.js")),
    },
    file,
    fileText,
  };
}

/** One server more that does not work: it never answers, or it ends at once. */
export function withBroken(servers: Servers, how: "silent" | "exit", mark: string): Servers {
  return { ...servers, broken: { command: process.execPath, args: [CHAOS, how], env: { [UPSTREAM]: mark } } };
}
