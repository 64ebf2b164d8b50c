import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { programEnv } from "../program-env.ts";
import { type Balancer, startBalancer } from "../state/balancer.ts";

const MAIN = resolve("src/program/main.ts");
const START_MS = 60_000;

/** One `keyhole serve --http` process with a home folder of its own, as on a machine of its own. */
export interface Replica {
  readonly process: ChildProcess;
  readonly url: string;
  readonly home: string;
  /** Everything that it has printed so far. */
  printed(): string;
  /** Ends it at once, in the middle of its calls. */
  kill(): void;
  /** Ends it as orchestrators do. Resolves to its exit code. */
  stop(): Promise<number | null>;
}

/** Several replicas of one config behind one address. */
export interface Team {
  readonly balancer: Balancer;
  readonly config: string;
  /** Starts another replica and puts it behind the address when it is ready. */
  start(): Promise<Replica>;
  /** Runs a command of the program with the team's config, as a person at a terminal of their own. */
  run(...words: readonly string[]): Promise<string>;
  /** Makes an agent's key. */
  addKey(name: string, ...options: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export interface TeamOptions {
  readonly folder: string;
  /** The config without its `state`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Without it the config has no `state`. */
  readonly database?: string;
  /** Prefix of the tables, which each test has of its own. */
  readonly table?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** More words of `keyhole serve`. */
  readonly words?: readonly string[];
}

export async function createTeam(options: TeamOptions): Promise<Team> {
  const { folder, database, table, words = [] } = options;
  const config = join(folder, "team.json");
  const state = { postgres: `\${DATABASE_URL}`, table };
  writeFileSync(config, JSON.stringify({ ...(database && { state }), ...options.config }));
  const balancer = await startBalancer({ probe: "/readyz" });
  const replicas = new Set<Replica>();
  const envOf = (home: string) => ({
    ...programEnv(home),
    ...(database && { DATABASE_URL: database }),
    ...options.env,
  });
  let number = 0;

  async function start(): Promise<Replica> {
    number += 1;
    const home = join(folder, `replica-${number}`);
    mkdirSync(home);
    const args = [MAIN, "serve", "--http", "--config", config, ...words];
    const replica = await startReplica(home, args, envOf(home));
    replicas.add(replica);
    replica.process.once("exit", () => replicas.delete(replica));
    await balancer.add(replica.url);
    return replica;
  }

  async function run(...given: readonly string[]): Promise<string> {
    const home = join(folder, "person");
    mkdirSync(home, { recursive: true });
    const args = [MAIN, ...given, "--config", config];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env: envOf(home) });
    return stdout;
  }

  return {
    balancer,
    config,
    start,
    run,
    addKey: async (name, ...more) =>
      (JSON.parse(await run("agents", "add", name, "--json", ...more)) as { token: string }).token,
    close: async () => {
      const left = [...replicas];
      for (const { process: child } of left) child.kill("SIGKILL");
      await Promise.all(left.map(({ process: child }) => child.exitCode ?? once(child, "exit")));
      balancer.close();
    },
  };
}

async function startReplica(
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Replica> {
  const child = spawn(process.execPath, args, { cwd: home, env, stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
    const failed = (why: string) => reject(new Error(`The replica ${why}:\n${text}`));
    const timer = setTimeout(failed, START_MS, "does not listen");
    child.once("exit", (code) => failed(`ended with ${code}`));
    child.stderr.on("data", (chunk) => {
      text += chunk;
      const [, found] = /Keyhole listens at (\S+)/.exec(text) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  return {
    process: child,
    url,
    home,
    printed: () => text,
    kill: () => void child.kill("SIGKILL"),
    stop: async () => {
      child.kill("SIGTERM");
      const [code] = (await once(child, "exit")) as [number | null];
      return code;
    },
  };
}
