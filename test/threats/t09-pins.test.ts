import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, createPins } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { createLogins } from "keyhole/sources";
import { expect, onTestFinished, test } from "vitest";
import { diffDefinitions } from "../../src/core/access/diff-definitions.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { tmuxMissing } from "../tmux.ts";
import { eventually, gatewayOf, PATIENT } from "../upstream-kit.ts";
import { agree, chaos, listedHash, openProgram, type Program } from "./program.ts";

async function states(path: string, config: object, cwd: string) {
  const source = createMcpSource("files", config as { command: string }, { cwd, limits: PATIENT });
  const gateway = gatewayOf([source], { pins: createPins({ path }) });
  onTestFinished(() => gateway.close());
  await gateway.ready();
  return { pins: gateway.pins, states: () => new Set(gateway.pins.list().map(({ state }) => state)) };
}

test("T9: another program under the same label starts without approvals", async () => {
  const path = join(temporaryFolder(), "approvals.db");
  const [here, there] = [temporaryFolder(), temporaryFolder()];
  const first = await states(path, chaos(), here);
  await first.pins.approve("all");
  expect(first.states()).toEqual(new Set(["approved"]));
  expect(statSync(path).mode & 0o777).toBe(0o600);

  expect((await states(path, chaos(), here)).states()).toEqual(new Set(["approved"]));
  expect((await states(path, chaos({ TOKEN: "renewed" }), here)).states()).toEqual(new Set(["approved"]));
  expect((await states(path, chaos(), there)).states()).toEqual(new Set(["pending"]));
  const { command, args } = chaos() as { command: string; args: string[] };
  const more = { command, args: [...args, "--more"] };
  expect((await states(path, more, here)).states()).toEqual(new Set(["pending"]));
});

test("T9: another issuer of the login to a server starts without approvals", async () => {
  const mail = createGateway({ domains: [{ name: "mail", description: "Mail.", tools: [] }] });
  const token = "a-token-of-its-own";
  const { url, close } = await serveHttp(createMcpServer(mail), { token });
  onTestFinished(close);
  const logins = createLogins({ path: ":memory:" });
  const path = join(temporaryFolder(), "approvals.db");
  const stateUnder = async (issuer: string, approve = false) => {
    await logins.save(`mail ${url}`, { issuer });
    // The server answers whoever issued the login.
    const headers = { authorization: `Bearer ${token}` };
    const gateway = gatewayOf([createMcpSource("mail", { url, headers }, { logins, limits: PATIENT })], {
      pins: createPins({ path }),
    });
    await gateway.ready();
    if (approve) await gateway.pins.approve("all");
    const [pin] = gateway.pins.list();
    await gateway.close();
    return pin?.state;
  };
  expect(await stateUnder("https://first.example", true)).toBe("approved");
  expect(await stateUnder("https://first.example")).toBe("approved");
  expect(await stateUnder("https://second.example")).toBe("pending");
});

test("T9: approvals without their checksum do not count, which is told once", () => {
  const folder = temporaryFolder();
  const path = join(folder, "approvals.db");
  writeFileSync(path, JSON.stringify({ format: 1, checksum: "x", pins: [] }));
  expect(createPins({ path }).damage).toContain("nothing in it counts");
  expect(createPins({ path }).damage).toBeUndefined();
  expect(readdirSync(folder)).toEqual(["approvals.db", expect.stringMatching(/^approvals\.db\.damaged-/)]);
});

test("T9: definitions are approved exactly as they were listed", async () => {
  const { pins, states: current } = await states(
    join(temporaryFolder(), "approvals.db"),
    chaos(),
    temporaryFolder(),
  );
  const listed = pins.list().map((pin) => ({ ...pin, hash: "another definition" }));
  expect(await pins.approve({ pins: listed })).toBe(0);
  expect(current()).toEqual(new Set(["pending"]));
  expect(await pins.approve({ pins: pins.list() })).toBe(18);
});

test("T9: a diff leaves nothing out, however much has changed", () => {
  const of = (value: number) =>
    Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`p${at}`, { a: value }]));
  const after = { ...of(2), z: { a: "steals" } };
  expect(JSON.stringify(diffDefinitions({ x: of(1) }, { x: after }))).toContain("steals");
});

async function allowed(): Promise<Program & { config: string }> {
  const program = openProgram();
  const config = program.write("mcp.json", { mcpServers: { bad: chaos() } });
  await agree(program, "bad", "--config", config);
  return { ...program, config };
}

test("T9: a damaged file of approvals is told once, and approves nothing", async () => {
  const { keyhole, config, home } = await allowed();
  const file = join(home, ".local/state/keyhole/approvals.db");
  expect((await keyhole("approve", "--config", config)).out).toContain("bad: 18 definitions");
  writeFileSync(file, "not a database");
  const { out, errors } = await keyhole("approve", "--config", config);
  expect(errors.split("was damaged and is now")).toHaveLength(2);
  expect(out).toContain("bad waits for your approval to start:");
});

test("T9: a model is told the command that its user has to type, and the command alone approves nothing", async () => {
  const { serve, keyhole, config } = await allowed();
  const call = await serve("--allow-write", "--config", config);
  for (const [tool, args] of [
    ["ask", { query: "bad.add" }],
    ["help", { path: "bad.add" }],
    ["exec", { op: "bad.add", args: {} }],
  ] as const) {
    // A server that is slow to start is named as starting first.
    await eventually(async () => {
      const text = await call(tool, args);
      expect(text).toContain("waits for a person's approval");
      expect(text).toContain("the user has to type: keyhole approve bad");
      expect(text).not.toMatch(/--hash|--yes/i);
    });
  }
  const approved = await keyhole("approve", "bad", "--config", config);
  expect(approved).toMatchObject({ code: 1, errors: expect.stringContaining("PERSON_NEEDED") });
  expect(await call("exec", { op: "bad.add", args: {} })).toContain("waits for a person's approval");
});

test("T9: without a terminal, approving needs the hash of exactly what was listed", async () => {
  const { keyhole, config } = await allowed();
  const args = ["approve", "bad", "--config", config];
  const listed = await keyhole(...args);
  expect(listed).toMatchObject({ code: 1, errors: expect.stringContaining("PERSON_NEEDED") });
  expect(listed.out).toContain("Adds two numbers.");
  expect(await keyhole(...args, "--hash", "0000000000000000")).toMatchObject({ code: 1 });
  expect((await keyhole(...args)).out).toContain("bad: 18 definitions");
  expect((await keyhole(...args, "--hash", listedHash(listed.out))).out).toContain("Approved: 18.");
});

test.skipIf(tmuxMissing() !== undefined)(
  "T9: keyhole approve asks in a terminal and takes only a yes",
  { retry: 0 },
  async () => {
    const { keyhole, terminal, config } = await allowed();
    const args = ["approve", "bad.add", "--config", config];
    const refused = terminal(...args);
    await refused.sees("Adds two numbers.");
    await refused.sees("Enter answer");
    refused.type("yes");
    refused.press("Enter", "Enter");
    await refused.answers("Later");
    await refused.sees("bad: 1 tool waits.");
    const agreed = terminal(...args);
    await agreed.answers("Approve it");
    await agreed.sees("bad: 1 approved.");
    expect((await keyhole("approve", "--config", config)).out).toContain("bad: 17 definitions");
  },
);
