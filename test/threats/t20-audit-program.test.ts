import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { readAuditFolder } from "../../src/core/audit/audit-folder.ts";
import { createFileAuditStore } from "../../src/core/audit/file-audit-store.ts";
import { allBytes, allowed, recordsOf, verifyAll } from "../audit-kit.ts";
import { PLANTED } from "../planted-secrets.ts";
import { programEnv } from "../program-env.ts";
import { eventually } from "../upstream-kit.ts";
import { agree, chaos, MAIN, openProgram, type Program } from "./program.ts";

const DEFINE = resolve("src/core/nouns/define.ts");
const ROUNDS = 2;
const PROCESSES = 3;
const CALLS = 300;

/** The log of a program's home. */
function logOf({ home }: Program): string {
  return join(home, ".local", "state", "keyhole", "audit");
}

/** A config whose tool leaves a line in a file each time it runs. */
function chargeConfig(program: Program): { config: string; ran: () => number } {
  const mark = join(program.folder, "charges");
  const config = program.write(
    "charge.config.mjs",
    `import { appendFileSync } from "node:fs";
    import { defineDomain, defineTool } from ${JSON.stringify(DEFINE)};
    const charge = defineTool({
      name: "create_charge",
      description: "Charge a card.",
      inputSchema: { type: "object", properties: { card: { type: "string" } } },
      execute: async () => (appendFileSync(${JSON.stringify(mark)}, "ran\\n"), "charged"),
    });
    export const domains = [defineDomain({ name: "pay", description: "Payments.", tools: [charge] })];`,
  );
  return {
    config,
    ran: () => (existsSync(mark) ? readFileSync(mark, "utf8").split("\n").length - 1 : 0),
  };
}

/** Serves, sends many calls at once, and is killed at some time after the first answer. */
async function serveAndKill(program: Program, config: string, killAfterMs: number): Promise<void> {
  const child = spawn(process.execPath, [MAIN, "serve", "--no-daemon", "--config", config, "--allow-write"], {
    cwd: program.folder,
    env: programEnv(program.home),
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.on("error", () => {});
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1" };
  send({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
  });
  await once(child.stdout, "data");
  send({ method: "notifications/initialized" });
  for (let id = 1; id <= CALLS; id += 1) {
    const params = { name: "exec", arguments: { op: "pay.charge.create", args: { card: "4111" } } };
    send({ id, method: "tools/call", params });
  }
  await once(child.stdout, "data");
  await sleep(killAfterMs);
  child.kill("SIGKILL");
  await once(child, "close");
}

test("T20: however often processes are killed, every execution has a start record in an intact log", async () => {
  const program = openProgram();
  const { config, ran } = chargeConfig(program);
  for (let round = 0; round < ROUNDS; round += 1) {
    const delays = Array.from({ length: PROCESSES }, () => Math.random() * 40);
    await Promise.all(delays.map((delay) => serveAndKill(program, config, delay)));
    const chains = readAuditFolder(logOf(program));
    expect((await verifyAll(chains)).flatMap(({ bad }) => bad ?? [])).toEqual([]);
    const started = (await recordsOf(chains)).filter(({ kind }) => kind === "call-started");
    expect(ran()).toBeGreaterThan(round);
    expect(started.length).toBeGreaterThanOrEqual(ran());
  }
  const { code, out } = await program.keyhole("logs", "verify");
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^chain 1: \d+ records are intact, .* Head: \d+ [0-9a-f]{64}\n/),
  ]);
});

test("T20: what people allow and revoke on the command line is recorded", async () => {
  const program = openProgram();
  program.write(".keyhole/settings.json", { mcpServers: { bad: chaos() } });
  expect(await agree(program, ".")).toMatchObject({ code: 0 });
  expect(await agree(program, "bad://tools/add")).toMatchObject({ code: 0 });
  expect(await program.keyhole("approve", "--revoke", "bad")).toMatchObject({ code: 0 });
  expect(await program.keyhole("approve", "--revoke", ".")).toMatchObject({ code: 0 });
  const records = await recordsOf(readAuditFolder(logOf(program)));
  const decisions = records.flatMap((record) => ("digest" in record ? [record] : []));
  expect(decisions.map(({ kind, what }) => `${what} ${kind}`)).toEqual([
    "server allowed",
    "folder allowed",
    "definition allowed",
    "server revoked",
    "folder revoked",
  ]);
  expect(decisions.every(({ digest }) => /^[0-9a-f]{64}$/.test(digest))).toBe(true);
  expect(new Set(decisions.map(({ principal }) => principal))).toEqual(new Set([userInfo().username]));
});

test("T20: no planted secret of a config, its variables, arguments or results is in the log", async () => {
  const secrets = Object.values(PLANTED).map(({ secret }) => secret);
  const env = Object.fromEntries(secrets.map((secret, at) => [`SECRET_${at}`, secret]));
  const program = openProgram({ env });
  const config = program.write("mcp.json", { mcpServers: { bad: chaos(env) } });
  const call = await program.serve("--config", config, "--trust", "--allow-write");
  for (const secret of secrets) {
    const text = await call("exec", { op: "bad.add", args: { a: secret, [secret]: secret } });
    expect(text).not.toContain("AUDIT_FAILED");
  }
  await eventually(async () => {
    const records = await recordsOf(readAuditFolder(logOf(program)));
    const ended = records.filter(({ kind }) => kind === "call-ended" || kind === "call-refused");
    expect(ended).toHaveLength(secrets.length);
  });
  const log = allBytes(logOf(program));
  expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
});

test("T20: keyhole serve can be set to fail closed, and then refuses writes without a log", async () => {
  const program = openProgram();
  const { config, ran } = chargeConfig(program);
  mkdirSync(join(program.home, ".keyhole"));
  writeFileSync(
    join(program.home, ".keyhole", "settings.json"),
    JSON.stringify({ audit: { failClosed: true } }),
  );
  mkdirSync(join(logOf(program), ".."), { recursive: true });
  writeFileSync(logOf(program), "in the way");
  const call = await program.serve("--config", config, "--allow-write");
  const text = await call("exec", { op: "pay.charge.create", args: {} });
  expect(text).toContain("AUDIT_FAILED");
  expect(text).toContain("The log goes on by itself.");
  expect(ran()).toBe(0);
});

test("T20: keyhole logs calls --follow shows records as they come, of every process", async () => {
  const program = openProgram();
  const follower = spawn(process.execPath, [MAIN, "logs", "calls", "--follow"], {
    env: programEnv(program.home),
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void follower.kill());
  let out = "";
  follower.stdout.on("data", (chunk) => {
    out += chunk;
  });
  const stores = [1, 2].map(() => createFileAuditStore({ path: logOf(program) }));
  for (const name of ["first", "second"]) {
    for (const [at, store] of stores.entries()) {
      store.add(allowed(`${name}-${at}`));
      await store.flush();
    }
    await eventually(() => expect(out).toContain(`${name}-1`));
  }
  for (const store of stores) await store.close();
  expect(out.match(/(first|second)-[01]/g)?.toSorted()).toEqual([
    "first-0",
    "first-1",
    "second-0",
    "second-1",
  ]);
});
