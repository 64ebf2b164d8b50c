import { spawn } from "node:child_process";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { createInterface } from "node:readline";
import { renderUnicodeCompact } from "uqr";
import { expect, onTestFinished, test } from "vitest";
import { exchange, openConsole } from "./console/console-kit.ts";
import { programEnv } from "./program-env.ts";
import { chaos, MAIN, openProgram } from "./threats/program.ts";

test("keyhole console opens the console of a gateway that the daemon serves", async () => {
  const program = openProgram();
  const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
  const call = await program.serve("--trust", "--allow-write", "--config", config);
  expect(await call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain('"sum":1');
  const { out } = await program.keyhole("console");
  const [, named, link = ""] = /^(.*), opens once: (http:\S+)$/m.exec(out) ?? [];
  expect(named).toBe(config);
  expect(new URL(link).hostname).toBe("127.0.0.1");
  const person = await openConsole(link);
  expect(await person.json("/api/upstreams")).toMatchObject({
    upstreams: [{ label: "chaos", state: "connected" }],
  });
  expect(await person.json("/api/audit?entry=chaos.add")).toMatchObject({ records: [{ outcome: "ok" }] });
  // A link opens once; the command gives another.
  await expect(openConsole(link).then(({ send }) => send("/api/me"))).resolves.toMatchObject({ status: 401 });
  expect((await program.keyhole("console")).out).not.toBe(out);
});

test("keyhole console starts the daemon while no client does, and serves until it is stopped", async () => {
  const program = openProgram();
  expect((await program.keyhole("console")).errors).toMatch(/^NO_SERVERS: /);
  const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
  const child = spawn(process.execPath, [MAIN, "console", "--config", config], {
    ...{ cwd: program.folder, env: programEnv(program.home), stdio: ["ignore", "pipe", "inherit"] },
  });
  onTestFinished(() => void child.kill());
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  const link = /opens once: (http:\S+)$/.exec(String((await lines.next()).value))?.[1] ?? "";
  expect((await lines.next()).value).toContain("Ctrl-C");
  const person = await openConsole(link);
  expect(await person.json("/api/upstreams")).toMatchObject({ upstreams: [{ label: "chaos" }] });
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
});

const lan = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

test("--host lan gives a link and its QR code for a phone, at the address in the network alone", async ({
  skip,
}) => {
  if (!lan) return skip("this machine has no address in a network");
  const program = openProgram();
  const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
  await program.serve("--config", config);
  const { out } = await program.keyhole("console", "--host", "lan");
  const link = /opens once: (http:\S+)$/m.exec(out)?.[1] ?? "";
  expect(new URL(link).hostname).toBe(lan);
  expect(out).toContain(renderUnicodeCompact(link));
  expect(out).toContain("Anybody in the network");
  const { port } = new URL(link);
  expect((await exchange(link, { origin: `http://rebound.example:${port}` })).status).toBe(403);
  const person = await openConsole(link);
  expect(await person.json("/api/me")).toMatchObject({ admin: true });
  expect((await exchange(link)).status).toBe(401);
  // The same console, so that a call waits on both.
  const near = await openConsole(/http:\S+/.exec((await program.keyhole("console")).out)?.[0] ?? "");
  expect(await near.json("/api/me")).toMatchObject({ admin: true });
});
