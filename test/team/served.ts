import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { resolve } from "node:path";
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { expect, onTestFinished } from "vitest";
import { programEnv } from "../program-env.ts";
import { MAIN, openProgram, type Program } from "../threats/program.ts";
import { type Issuer, type IssuerOptions, startIssuer } from "./issuer.ts";

const DESK = resolve("test/team/desk-upstream.ts");

/** A server of the config with a tool that lists and one that creates. */
export function desk(subject: string): object {
  return { command: process.execPath, args: [DESK, subject] };
}

/** `keyhole serve --http` as a process, with people of an issuer. */
export interface Served {
  readonly issuer: Issuer;
  readonly program: Program;
  /** The public URL of the gateway, which is the audience of its tokens. */
  readonly url: string;
  readonly config: string;
  /** Everything that the process has printed. */
  printed(): string;
  readonly process: ChildProcess;
}

export interface ServedOptions {
  readonly issuer?: IssuerOptions | ((origin: string) => IssuerOptions);
  /** Further fields of the config. */
  readonly config?: object;
  /** Further fields of `people`. */
  readonly people?: object;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Groups, profiles and two servers: sre has the tickets, sales the orders. */
export const TEAM = {
  mcpServers: { tickets: desk("tickets"), orders: desk("orders") },
  profiles: { ops: { servers: ["tickets"] }, crm: { servers: ["orders"] } },
};
export const GROUPS = {
  sre: { profile: "ops", write: true, admin: true },
  sales: { profile: "crm" },
};

export async function serveTeam(options: ServedOptions = {}): Promise<Served> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const given = options.issuer;
  const issuer = await startIssuer(typeof given === "function" ? given(origin) : given);
  onTestFinished(() => issuer.close());
  const program = openProgram();
  const url = `${origin}/mcp`;
  const config = program.write("team.json", {
    ...TEAM,
    people: { issuer: issuer.url, audience: url, groups: GROUPS, ...options.people },
    ...options.config,
  });
  const flags = ["--trust", "--config", config, "--port", String(port), ...(options.flags ?? [])];
  const child = spawn(process.execPath, [MAIN, "serve", "--http", ...flags], {
    cwd: program.folder,
    env: { ...programEnv(program.home), ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  await expect.poll(() => printed, { timeout: 30_000 }).toContain("Keyhole listens at");
  return { issuer, program, url, config, process: child, printed: () => printed };
}

/** A port that nobody uses now: the audience has to be known before the gateway listens. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
  const { port } = probe.address() as { port: number };
  await new Promise((done) => probe.close(done));
  return port;
}

/** A client that has no token: it logs a person in by what the gateway and the issuer tell it. */
export async function connectAs({ issuer }: Served, person: string, url: string): Promise<Client> {
  const login = createLogin();
  const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: login.provider });
  const client = () => new Client({ name: "team-client", version: "1" });
  const first = open();
  await expect(client().connect(first)).rejects.toThrow();
  const back = await issuer.login(login.asked()!, person);
  await first.finishAuth(back.searchParams);
  const connected = client();
  await connected.connect(open());
  onTestFinished(() => connected.close());
  return connected;
}

/** The part of a login that a client keeps. */
export function createLogin() {
  let client: Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
  let tokens: Awaited<ReturnType<OAuthClientProvider["tokens"]>>;
  let verifier = "";
  let asked: URL | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: "http://127.0.0.1:1/callback",
    clientMetadata: {
      client_name: "Team client",
      redirect_uris: ["http://127.0.0.1:1/callback"],
      token_endpoint_auth_method: "none",
    },
    clientInformation: () => client,
    saveClientInformation: (information) => {
      client = information;
    },
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved;
    },
    redirectToAuthorization: (url) => {
      asked = url;
    },
    saveCodeVerifier: (saved) => {
      verifier = saved;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (state) => {
      discovered = state;
    },
    discoveryState: () => discovered,
  };
  return { provider, asked: () => asked, tokens: () => tokens };
}

/** The text of a tool's answer. */
export async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
