import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import { readServeFlags } from "../../src/program/daemon/serve-options.ts";
import { docBlocks } from "../doc-blocks.ts";
import { typeBlocks } from "../doc-commands.ts";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { NO_POSTGRES, startPostgres } from "./start-postgres.ts";

vi.setConfig({ testTimeout: 300_000 });
const MAIN = resolve("src/program/main.ts");
const database = startPostgres();
afterAll(() => database?.stop());

interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}
const container = readFileSync("deploy/Dockerfile", "utf8");
const services = parse(readFileSync("deploy/compose.yaml", "utf8")).services as Record<string, Service>;
const { keyhole } = services;

/** Fills in variables as compose does. */
function filled(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)(?::[-?]([^}]*))?\}/g, (_, name, other) => variables[name] ?? other ?? "");
}

test("the container and compose files start the same command, with every variable that the config reads", () => {
  const config = readFileSync("deploy/team.json", "utf8");
  const words = keyhole!.command.map((word) => filled(word, {}));
  expect(readServeFlags(words.slice(1))).toMatchObject({ http: true, port: 8080, allowHost: ["localhost"] });
  expect(readServeFlags(lastCommand().slice(1))).toMatchObject({ http: true, port: 8080, host: "0.0.0.0" });
  for (const [, name = ""] of config.matchAll(/\$\{(\w+)\}/g))
    expect(keyhole!.environment).toHaveProperty(name);
  expect(Object.keys(services)).toEqual(["database", "keyhole", "balancer"]);
  expect(readFileSync("deploy/haproxy.cfg", "utf8")).toContain("uri /readyz");
});

/** The command of the container: the last CMD, because the health check has one too. */
function lastCommand(): string[] {
  return JSON.parse([...container.matchAll(/^CMD (\[.*\])$/gm)].at(-1)![1]!);
}

test.skipIf(!database)(
  "the command of a replica runs with the variables of compose, and its health check passes",
  async () => {
    const folder = temporaryFolder();
    const port = await freePort();
    writeFileSync(join(folder, "team.json"), readFileSync("deploy/team.json"));
    const here = (word: string) =>
      filled(word, {})
        .replace("/etc/keyhole/team.json", join(folder, "team.json"))
        .replace("0.0.0.0", "127.0.0.1")
        .replaceAll("8080", String(port));
    const env = { ...programEnv(folder), DATABASE_URL: database!.url, KEYHOLE_TOKEN: "the-owner" };
    expect(Object.keys(keyhole!.environment).sort()).toEqual(["DATABASE_URL", "KEYHOLE_TOKEN"]);
    const child = spawn(process.execPath, [MAIN, ...keyhole!.command.map(here)], {
      cwd: folder,
      env,
      stdio: "ignore",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const check = /CMD (\["node".*\])$/m.exec(container)![1]!;
    const [, ...words] = (JSON.parse(check) as string[]).map(here);
    const isHealthy = () =>
      promisify(execFile)(process.execPath, words).then(
        () => true,
        () => false,
      );
    await expect.poll(isHealthy, { timeout: 60_000, interval: 500 }).toBe(true);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  },
);

test.skipIf(!database)("every command of docs/team.md can be typed, in its order", async () => {
  const port = await freePort();
  const blocks = docBlocks()
    .filter(({ page, notRun = "" }) => page === "docs/team.md" && notRun.includes("deploy.test.ts types it"))
    .map((block) => ({
      ...block,
      code: block.code
        .replace(/^export DATABASE_URL=.*$/m, `export DATABASE_URL='${database!.url}'`)
        .replace("--port 8080", `--port ${port}`)
        .replace('{ "postgres":', `{ "table": "doc_${Date.now()}", "postgres":`),
    }));
  expect(blocks.length).toBeGreaterThan(3);
  const { code, output } = await typeBlocks(blocks);
  expect(code, output).toBe(0);
  expect(output).toContain("a primary that may be written");
});

if (!database) test.skip(`the commands of docs/team.md (${NO_POSTGRES})`, () => {});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
