import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { writeEntries } from "./connect-keyhole.ts";
import type { LabClient, LabServers } from "./lab-client.ts";

export interface HomeOptions {
  /** An empty folder for everything that is written. */
  readonly folder: string;
  /** The folder into which the client is installed. */
  readonly installed: string;
  /** The folder of the built package. */
  readonly dist: string;
  /** Base URL of the scripted model. */
  readonly model: string;
  readonly prompt: string;
  readonly servers: LabServers;
  /** Variables of the person. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Sets the client up so that it hides tools, if it does not by itself. */
  readonly hidesTools?: true;
  /** The client is killed after this long. */
  readonly deadlineMs: number;
}

/** A client with servers in its config, in a home and a project of its own. */
export async function openHome(client: LabClient, options: HomeOptions) {
  const { folder, installed, dist, model, prompt, servers, deadlineMs } = options;
  const [home, project] = [join(folder, "home"), join(folder, "project")];
  for (const path of [home, project]) await mkdir(path, { recursive: true });
  const setup = { home, project, installed, model, prompt };
  const { args, env = {}, files = {} } = client.launch(setup);
  const allowing = client.allowing?.([...Object.keys(servers), "keyhole"]);
  for (const [path, text] of Object.entries({ ...files, ...allowing }))
    await write(resolve(home, path), text);
  await writeEntries(client, setup, servers);
  const variables = {
    HOME: home,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    TERM: "dumb",
    LANG: "C.UTF-8",
    ...options.variables,
    ...env,
    ...(options.hidesTools && client.search?.variables?.(setup)),
  };

  /** The output of a command of Keyhole. It runs beside the servers, which may be of this process. */
  async function keyhole(...given: string[]): Promise<string> {
    const main = join(dist, "program/main.js");
    const options = { cwd: project, env: variables, maxBuffer: Number.POSITIVE_INFINITY };
    return (await promisify(execFile)(process.execPath, [main, ...given], options)).stdout;
  }

  /** The same, whatever its exit code. */
  async function shown(...given: string[]): Promise<string> {
    const failed = ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr;
    return keyhole(...given).catch(failed);
  }

  /** As a person does it: `connect`, or the entry by hand for a client that `connect` does not know; then `approve`. */
  async function connect(serveArgs: readonly string[], connectArgs: readonly string[] = []): Promise<void> {
    if (client.entryFile) {
      await write(join(home, ".keyhole/settings.json"), JSON.stringify({ mcpServers: servers }));
      const serve = [join(dist, "program/main.js"), "serve", "--allow-write", ...serveArgs];
      await writeEntries(client, setup, { keyhole: { command: process.execPath, args: serve } });
    } else await keyhole("connect", client.name, "--yes", ...connectArgs);
    // The programs first, where `connect` has not settled them, then their tools.
    const waitingHash = async () => [...(await shown("approve")).matchAll(/^Hash: (\w+)$/gm)].at(-1)?.[1];
    for (let hash = await waitingHash(); hash !== undefined; hash = await waitingHash())
      await keyhole("approve", "--hash", hash);
  }

  /** Runs the client to its end. The exit code is null if it was killed. */
  async function run(): Promise<{ code: number | null; output: string }> {
    const program = join(installed, "node_modules", ".bin", client.bin);
    const child = spawn(program, args, { cwd: project, env: variables, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    child.stdout.on("data", (data) => (printed += data));
    child.stderr.on("data", (data) => (printed += data));
    const timer = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
    const [exit] = await once(child, "exit");
    clearTimeout(timer);
    return { code: exit, output: printed.slice(-4_000) };
  }

  return { keyhole, shown, connect, run };
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
