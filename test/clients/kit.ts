import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client, ClientMachine } from "../../src/program/clients/client.ts";
import { CLIENTS } from "../../src/program/clients/clients.ts";
import { createConnections } from "../../src/program/clients/connections.ts";
import { type PlanOptions, planConnection } from "../../src/program/clients/plan-connection.ts";

export const PROGRAM = { command: "/usr/bin/node", args: ["/opt/keyhole/main.js", "serve"] };

const FILES: Readonly<Record<string, string>> = { opencode: "opencode.jsonc", codex: "codex.toml" };

/** The config of a client as its users have it. */
export function fixtureOf({ name }: Client): string {
  const file = FILES[name] ?? `${name}.${["continue", "goose"].includes(name) ? "yaml" : "json"}`;
  return readFileSync(join(import.meta.dirname, "fixtures", file), "utf8");
}

export function clientOf(name: string): Client {
  return CLIENTS.find((client) => client.name === name)!;
}

export function machineIn(home: string, platform: NodeJS.Platform = "linux"): ClientMachine {
  return { home, platform, env: {}, project: join(home, "site") };
}

/** The place where a client keeps the servers of the user. */
export function pathOf(client: Client, machine: ClientMachine): string {
  const users = client.places(machine).filter(({ scope }) => scope === "user");
  return (client.name === "opencode" ? users[1] : users[0])!.path;
}

export function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** A home folder with connections. */
export function setUp(home: string, platform?: NodeJS.Platform) {
  const machine = machineIn(home, platform);
  const ownPath = join(home, ".keyhole", "settings.json");
  let time = 0;
  const connections = createConnections(join(home, "state"), () => {
    time += 1;
    return new Date(time);
  });
  const plan = (client: Client, options: Partial<PlanOptions> = {}) =>
    planConnection(client, { machine, program: PROGRAM, ownPath, ...options });
  return { machine, ownPath, connections, plan };
}
