import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "../claims.ts";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { connectTo } from "./call-tool.ts";
import { NO_POSTGRES, startPostgres } from "./start-postgres.ts";
import { createTeam, type Replica, type Team } from "./start-team.ts";
import { serveTill, type Till } from "./till-upstream.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });
const run = promisify(execFile);
const MAIN = resolve("src/program/main.ts");
const database = startPostgres();
afterAll(() => database?.stop());

if (!database) test.skip(`state in PostgreSQL (${NO_POSTGRES})`, () => {});
else {
  let team: Team;
  let till: Till;
  let [one, other]: Replica[] = [];

  const folder = mkdtempSync(join(tmpdir(), "keyhole-team-"));

  beforeAll(async () => {
    till = await serveTill(() => "shared");
    team = await createTeam({
      folder,
      database: database.url,
      table: `state_${process.pid}_${Date.now()}`,
      config: { mcpServers: { till: { url: till.url } } },
    });
    [one, other] = await Promise.all([team.start(), team.start()]);
  });
  afterAll(async () => {
    await team.close();
    till.close();
    rmSync(folder, { recursive: true, force: true });
  });

  verifies("team:state", "what a person approves counts at every replica at once", async () => {
    const key = await team.addKey("ann", "--allow-write");
    const calls = await Promise.all([one!, other!].map(({ url }) => connectTo(url, key)));
    const charge = { op: "till.create_charge", args: { id: "1" } };
    for (const call of calls) expect(await call("exec", charge)).toMatch(/approv/);
    // First what it runs, then its tools.
    for (let round = 0; round < 2; round += 1) {
      const shown = await team.run("approve").catch(({ stdout }) => String(stdout));
      await team.run("approve", "--hash", /Hash: (\w+)/.exec(shown)![1]!).catch(() => {});
    }
    for (const call of calls)
      await expect.poll(() => call("exec", charge), { timeout: 20_000 }).toContain('"by":"shared"');
    expect(till.effects).toHaveLength(2);

    const opened = await calls[0]!("ask", { query: "charge", session: "new" });
    const session = /ses_[\w-]+/.exec(opened)![0];
    expect(await calls[1]!("get", { routes: [{ route: `session://${session}` }] })).toContain("charge");

    expect(await team.run("servers")).toContain("ann");
    const log = await team.run("logs", "calls", "--all");
    expect(log.split("till.create_charge").length - 1).toBeGreaterThanOrEqual(4);
    expect(log).toContain("token  ann");
    expect(await team.run("logs", "verify")).toContain("intact");
  });

  test("T4: a key that is revoked at a terminal is refused at every replica with its next request", async () => {
    const key = await team.addKey("leaver");
    for (const { url } of [one!, other!]) await connectTo(url, key);
    await team.run("agents", "revoke", "leaver");
    for (const { url } of [one!, other!]) await expect(connectTo(url, key)).rejects.toThrow("401");
  });

  test("T12: what people use is told to those who run the gateway alone", async () => {
    const [agent, admin] = [
      await team.addKey("curious"),
      await team.addKey("runs-it", "--scopes", "keyhole:admin"),
    ];
    const status = async (path: string, key: string) =>
      (await fetch(new URL(path, one!.url), { headers: { authorization: `Bearer ${key}` } })).status;
    for (const path of ["/api/usage", "/metrics/usage"])
      expect([await status(path, agent), await status(path, admin)]).toEqual([403, 200]);
  });

  verifies(
    "team:state",
    "a console session of one replica is one of the others, by a link that works once",
    async () => {
      const [, code] = /#\/open\/(\S+)/.exec(one!.printed())!;
      const open = ({ url }: Replica) =>
        fetch(new URL("/console/session", url), {
          method: "POST",
          headers: { origin: new URL(url).origin },
          body: JSON.stringify({ code }),
        });
      const opened = await open(other!);
      const { half } = (await opened.json()) as { half: string };
      const [, cookie] = /=([^;]+)/.exec(opened.headers.get("set-cookie")!)!;
      expect((await open(one!)).status).toBe(401);
      for (const { url } of [one!, other!]) {
        const { host, port } = new URL(url);
        const headers = { host, "x-keyhole-console": half, cookie: `keyhole_console_${port}=${cookie}` };
        expect((await fetch(new URL("/api/overview", url), { headers })).status).toBe(200);
      }
    },
  );

  verifies("team:state", "a replica keeps nothing but caches in its home folder", () => {
    for (const { home } of [one!, other!]) {
      const files = readdirSync(home, { recursive: true, withFileTypes: true });
      const kept = files
        .filter((file) => file.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
      expect(kept.filter((path) => !path.startsWith(join(home, ".cache")))).toEqual([]);
    }
  });

  verifies("team:state", "doctor looks at the database and says what is wrong with it", async () => {
    expect(await team.run("doctor", "--no-start")).toMatch(
      /✓ PostgreSQL \d+\.\d+, a primary that may be written: tables of version 1, \d+ gateways alive\./,
    );
    const [folder, url] = [temporaryFolder(), new URL(database.url)];
    const doctor = async (DATABASE_URL: string | undefined) => {
      const env = { ...programEnv(folder), ...(DATABASE_URL && { DATABASE_URL }) };
      const args = [MAIN, "doctor", "--no-start", "--config", team.config];
      return run(process.execPath, args, { cwd: folder, env }).catch(({ stdout }) => ({
        stdout: String(stdout),
      }));
    };
    expect((await doctor(undefined)).stdout).toContain("the variable DATABASE_URL is not set");
    const nowhere = Object.assign(new URL(url), { port: "1" });
    expect((await doctor(nowhere.href)).stdout).toContain(
      "fix: Start PostgreSQL, or correct the host and the port.",
    );
    const noDatabase = Object.assign(new URL(url), { pathname: "/nothing" });
    expect((await doctor(noDatabase.href)).stdout).toContain("the database does not exist");
    expect((await doctor("https://example.com")).stdout).toContain("postgres://USER:PASSWORD@HOST");
  });

  test("T12: a config whose state cannot be read is refused, rather than served with another one", async () => {
    const folder = temporaryFolder();
    const broken = await createTeam({
      folder,
      database: database.url,
      table: "unused",
      config: { state: { postgres: database.url, tabel: "typo" }, mcpServers: {} },
    });
    onTestFinished(() => broken.close());
    await expect(broken.start()).rejects.toThrow(/state\.tabel.*table/s);
    await expect(broken.addKey("ann")).rejects.toThrow("state.tabel");
  });
}
