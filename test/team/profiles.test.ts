import { writeFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../claims.ts";
import { call, connectAs, GROUPS, type Served, serveTeam, TEAM } from "./served.ts";

verifies(
  "profiles:address",
  "the address of a profile has its tools alone, and no other profile opens",
  async () => {
    const served = await serveTeam();
    const ada = await connectAs(served, "ada", `${served.url}/p/ops`);
    expect(await call(ada, "get", { routes: ["tickets.list_tickets"] })).toContain("list_tickets by process");
    expect(await call(ada, "get", { routes: ["orders.list_orders"] })).toContain("not found");
  },
);

test("profiles:pinned, T12: a key that is pinned to a profile works nowhere else, and not without it", async () => {
  const served = await serveTeam({ people: { groups: { "*": {} } } });
  const pinned = await addAgent(served, "robot", "--profile", "ops", "--allow-write");
  const free = await addAgent(served, "free");
  const { url } = served;

  for (const address of [url, `${url}/p/ops`]) {
    const robot = await connectWith(address, pinned);
    expect(await call(robot, "get", { routes: ["tickets.list_tickets"] })).toContain("by process");
    expect(await call(robot, "exec", { op: "tickets.create_tickets", args: {} })).toContain("by process");
    expect(await call(robot, "get", { routes: ["orders.list_orders"] })).toContain("not found");
  }
  expect(await refusal(`${url}/p/crm`, pinned)).toMatch(/^403 .*you have the profile ops/);
  expect(await refusal(`${url}/p/nowhere`, free)).toMatch(/^403 .*does not exist/);
  const other = await connectWith(`${url}/p/crm`, free);
  expect(await call(other, "get", { routes: ["orders.list_orders"] })).toContain("by process");

  const api = await post(new URL("/api/get", url).href, pinned, { routes: ["orders.list_orders"] });
  expect(await api.text()).toContain("NOT_FOUND");

  writeFileSync(served.config, JSON.stringify({ ...configOf(served), profiles: { crm: TEAM.profiles.crm } }));
  await expect.poll(() => refusal(url, pinned), { timeout: 20_000 }).toMatch(/^403 .*ops.* does not exist/);
  expect(await refusal(`${url}/p/ops`, pinned)).toMatch(/^403/);
  expect((await post(new URL("/api/get", url).href, pinned, { routes: ["orders.list_orders"] })).status).toBe(
    403,
  );
});

verifies("profiles:rights", "writing needs a yes of the caller and no no of the profile", async () => {
  const served = await serveTeam({
    people: { groups: { "*": {} } },
    config: { profiles: { ops: { servers: ["tickets"], allowWrite: false }, crm: { servers: ["orders"] } } },
  });
  const writer = await addAgent(served, "writer", "--allow-write");
  const reader = await addAgent(served, "reader");
  const written = async (token: string, profile: string, op: string) => {
    const client = await connectWith(`${served.url}/p/${profile}`, token);
    return (await call(client, "exec", { op, args: {} })).includes("by process");
  };
  expect(await written(writer, "crm", "orders.create_orders")).toBe(true);
  expect(await written(writer, "ops", "tickets.create_tickets")).toBe(false);
  expect(await written(reader, "crm", "orders.create_orders")).toBe(false);
});

verifies("upstream:shared", "profiles share the process of a server", async () => {
  const shared = { servers: ["tickets"] };
  const served = await serveTeam({
    people: { groups: { "*": {} } },
    config: { profiles: { one: shared, two: shared } },
  });
  const token = await addAgent(served, "robot");
  const answers = ["", "/p/one", "/p/two"].map(async (address) => {
    const client = await connectWith(`${served.url}${address}`, token);
    return /process \d+/.exec(await call(client, "get", { routes: ["tickets.list_tickets"] }))?.[0];
  });
  expect(new Set(await Promise.all(answers)).size).toBe(1);
});

test("with --profile no other profile is served", async () => {
  const served = await serveTeam({ people: { groups: { "*": {} } }, flags: ["--profile", "ops"] });
  const token = await addAgent(served, "robot");
  const own = await connectWith(`${served.url}/p/ops`, token);
  expect(await call(own, "get", { routes: ["tickets.list_tickets"] })).toContain("by process");
  expect(await refusal(`${served.url}/p/crm`, token)).toMatch(/^403/);
});

async function addAgent({ program }: Served, name: string, ...flags: string[]): Promise<string> {
  const { out, code } = await program.keyhole("agents", "add", name, "--json", ...flags);
  expect(code).toBe(0);
  return (JSON.parse(out) as { token: string }).token;
}

async function connectWith(url: string, token: string): Promise<Client> {
  const client = new Client({ name: "team-client", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

async function refusal(url: string, token: string): Promise<string> {
  const response = await post(url, token, { jsonrpc: "2.0", id: 1, method: "ping" });
  return `${response.status} ${await response.text()}`;
}

function post(url: string, token: string, body: object): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(body),
  });
}

function configOf({ issuer, url }: Served): object {
  return { ...TEAM, people: { issuer: issuer.url, audience: url, groups: GROUPS } };
}
