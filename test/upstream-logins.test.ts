import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { createLogins, type McpSourceOptions } from "keyhole/sources";
import { afterEach, expect } from "vitest";
import { z } from "zod";
import type { McpServerConfig } from "../src/sources/mcp/config/server-config.ts";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { type OAuthServer, serveOAuth } from "./oauth-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { eventually, gatewayOf, operator } from "./upstream-kit.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(): Promise<OAuthServer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "mail", version: "1.0.0" });
    server.registerTool(
      "greet",
      { description: "Greets somebody.", inputSchema: z.object({ who: z.string() }) },
      ({ who }) => ({ content: [{ type: "text", text: `Hello ${who}` }] }),
    );
    return server;
  });
  const server = await serveOAuth((request) => handler.fetch(request));
  closing.push(server.close);
  return server;
}

function mail(url: string, oauth: object = {}, options: McpSourceOptions = {}) {
  const config = { url, oauth } as McpServerConfig;
  const source = createMcpSource("mail", config, { trusted: true, limits: { backoffMs: 20 }, ...options });
  const gateway = gatewayOf([source]);
  closing.push(() => gateway.close());
  return { source, gateway, greet: () => gateway.exec({ op: "mail.greet", args: { who: "Ada" } }) };
}

/** The person agrees at once. */
async function agree(url: URL): Promise<void> {
  const answer = await fetch(url, { redirect: "manual" });
  void fetch(answer.headers.get("location") ?? "").catch(() => {});
}

verifies(
  "upstream:logins",
  "a server that needs a login names the command, and works after the login",
  async () => {
    const server = await start();
    const { source, gateway, greet } = mail(server.url);
    await gateway.ready();
    const { text } = await gateway.ask({ query: "mail" });
    expect(text).toContain("needs_login: it wants a login (HTTP 401); run: keyhole login mail");
    expect(server.seen.some(({ path }) => path === "/register")).toBe(false);
    const urls: URL[] = [];
    const logIn = () =>
      source.logIn({
        onUrl: (url) => {
          urls.push(url);
          return agree(url);
        },
      });
    expect(await logIn()).toBe(true);
    expect(urls[0]?.searchParams.get("code_challenge_method")).toBe("S256");
    expect(urls[0]?.searchParams.get("resource")).toBe(server.url);
    expect(urls[0]?.searchParams.get("scope")).toBe("read");
    await eventually(async () => expect(await greet()).toMatchObject({ ok: true, result: "Hello Ada" }));
    expect(await logIn()).toBe(false);
  },
);

verifies("upstream:logins", "a login survives a restart in a private file, and can be deleted", async () => {
  const server = await start();
  const path = join(temporaryFolder(), "state", "keyhole.db");
  const first = mail(server.url, {}, { logins: createLogins({ path }) });
  await first.source.logIn({ onUrl: agree });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const second = mail(server.url, {}, { logins: createLogins({ path }) });
  expect(await second.greet()).toMatchObject({ ok: true });
  expect(await second.source.logOut()).toBe(true);
  expect(await second.source.logOut()).toBe(false);
  expect((await second.greet()).text).toContain("needs_login");
});

verifies(
  ["upstream:logins", "login-storm"],
  "200 calls with an expired token renew it once, also across two openings of the file",
  async () => {
    const server = await start();
    const path = join(temporaryFolder(), "keyhole.db");
    const gateways = [mail, mail].map((make) => make(server.url, {}, { logins: createLogins({ path }) }));
    await gateways[0]!.source.logIn({ onUrl: agree });
    await Promise.all(gateways.map(({ source }) => source.refresh()));
    server.revoke();
    const calls = gateways.flatMap(({ greet }) => Array.from({ length: 100 }, greet));
    const outcomes = await Promise.all(calls);
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(server.tokenRequests("refresh_token")).toBe(1);
  },
);

verifies("upstream:logins", "an expired token is renewed before it is sent", async () => {
  const server = await start();
  server.expiresIn = 1;
  const { source, greet } = mail(server.url);
  await source.logIn({ onUrl: agree });
  server.expiresIn = 3600;
  expect(await greet()).toMatchObject({ ok: true });
  expect(server.tokenRequests("refresh_token")).toBeGreaterThan(0);
});

verifies("upstream:logins", "a login that has ended has to be repeated", async () => {
  const server = await start();
  const { source, greet } = mail(server.url);
  await source.logIn({ onUrl: agree });
  server.revoke();
  server.end();
  expect((await greet()).text).toContain("needs_login");
  await source.logIn({ onUrl: agree });
  await eventually(async () => expect(await greet()).toMatchObject({ ok: true }));
  expect(server.seen.filter(({ path }) => path === "/register")).toHaveLength(1);
});

verifies(
  "upstream:logins",
  "a call names the scopes it lacks, and the next login requests them",
  async () => {
    const server = await start();
    const { source, greet } = mail(server.url);
    await source.logIn({ onUrl: agree });
    server.scope = "write";
    const refused = await greet();
    expect(refused).toMatchObject({ ok: false, error: { code: "LOGIN_NEEDED" } });
    expect(refused.text).toContain("it wants a login with more scopes (write); run: keyhole login mail");
    let asked: string | null = null;
    await source.logIn({
      onUrl: (url) => {
        asked = url.searchParams.get("scope");
        return agree(url);
      },
    });
    expect(asked).toBe("read write");
    expect(await greet()).toMatchObject({ ok: true });
  },
);

verifies(
  "upstream:logins",
  "with client credentials no person logs in, and missing scopes are requested automatically",
  async () => {
    const server = await start();
    // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in from the variables.
    const oauth = { grant: "client_credentials", clientId: "robot", clientSecret: "${ROBOT}" };
    const { gateway, source, greet } = mail(server.url, oauth, { variables: { ROBOT: "s3cret-robot" } });
    await gateway.ready();
    expect(await greet()).toMatchObject({ ok: true });
    server.scope = "write";
    expect(await greet()).toMatchObject({ ok: true });
    expect(server.tokenRequests("client_credentials")).toBe(2);
    expect(JSON.stringify(source.diagnostics())).not.toContain("s3cret");
  },
);

const hostile: readonly [string, (server: OAuthServer) => void, string][] = [
  ["a javascript: address", (server) => setEndpoint(server, "javascript:alert(1)"), "javascript"],
  ["a file: address", (server) => setEndpoint(server, "file:///etc/passwd"), "file is not allowed"],
  ["a command in the address", (server) => setEndpoint(server, "http://a/$(touch x)"), "http is not allowed"],
  ["a program's own scheme", (server) => setEndpoint(server, "ms-msdt:/id"), "is not allowed"],
  ["no PKCE", (server) => delete server.metadata.code_challenge_methods_supported, "PKCE with S256"],
  [
    "plain PKCE",
    (server) => setMetadata(server, { code_challenge_methods_supported: ["plain"] }),
    "PKCE with S256",
  ],
  [
    "another issuer in its metadata",
    (server) => setMetadata(server, { issuer: "https://evil.example" }),
    "not from the authorization server",
  ],
  [
    "an answer of another issuer",
    (server) => Object.assign(server.answer, { iss: "https://evil.example" }),
    "not from the authorization server",
  ],
];
for (const [what, prepare, reason] of hostile) {
  verifies(["upstream:logins", "T3"], `a login is refused for ${what}`, async () => {
    const server = await start();
    prepare(server);
    const { source } = mail(server.url);
    const shown: string[] = [];
    const failed = await source
      .logIn({
        onUrl: (url) => {
          shown.push(url.protocol);
          return agree(url);
        },
      })
      .catch((error: Error) => error);
    expect(String(failed)).toContain(reason);
    expect(String(failed)).not.toContain("evil");
    expect(shown.every((protocol) => protocol === "http:")).toBe(true);
    expect(server.tokenRequests("authorization_code")).toBe(0);
  });
}

function setMetadata(server: OAuthServer, fields: Record<string, unknown>): void {
  Object.assign(server.metadata, fields);
}

function setEndpoint(server: OAuthServer, authorization_endpoint: string): void {
  setMetadata(server, { authorization_endpoint });
}

verifies(
  "upstream:logins",
  "metadata at a private address is not read unless its host is allowed",
  async () => {
    const reached: string[] = [];
    const canary = createServer((request, response) => {
      reached.push(request.url ?? "");
      response.end("{}");
    });
    await new Promise<void>((done) => canary.listen(0, "127.0.0.2", done));
    closing.push(() => canary.close());
    const server = await start();
    const { port } = canary.address() as AddressInfo;
    server.resourceMetadataUrl = `http://127.0.0.2:${port}/metadata`;
    const { source } = mail(server.url);
    await source.logIn({ onUrl: agree }).catch(() => {});
    server.metadata.token_endpoint = `http://127.0.0.2:${port}/token`;
    await source.logOut();
    const failed = await source.logIn({ onUrl: agree }).catch((error: Error) => error);
    expect(String(failed)).toMatch(/http is not allowed|must use HTTPS|token endpoint/i);
    expect(reached).toEqual([]);
  },
);

verifies(["upstream:logins", "T2"], "an answer with the wrong state is ignored", async () => {
  const server = await start();
  const { source } = mail(server.url);
  let status = 0;
  const failed = await source
    .logIn({
      timeoutMs: 300,
      onUrl: async (url) => {
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        back.search = "?code=stolen&state=guessed";
        status = (await fetch(back)).status;
      },
    })
    .catch((error: Error) => error);
  expect(status).toBe(400);
  expect(String(failed)).toContain("nobody answered in time");
});

verifies(
  ["upstream:logins", "T1"],
  "callers' tokens never reach a server, and servers' tokens never reach a caller",
  async () => {
    const server = await start();
    const { source, gateway } = mail(server.url);
    await source.logIn({ onUrl: agree });
    const face = createMcpServer(gateway, { surface: "native", principal: operator });
    const http = await serveHttp(face, { token: "callers-own-token" });
    closing.push(() => http.close());
    const answer = await fetch(http.url, {
      method: "POST",
      headers: {
        authorization: "Bearer callers-own-token",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "mail_greet", arguments: { who: "Ada" } },
      }),
    });
    const text = await answer.text();
    expect(text).toContain("Hello Ada");
    expect(text).not.toContain("access-");
    expect(JSON.stringify(server.seen)).not.toContain("callers-own-token");
  },
);

verifies(
  "upstream:logins",
  "keyhole login prints the address and waits; then calls work, until logout",
  async () => {
    const server = await start();
    const folder = temporaryFolder();
    const config = join(folder, "keyhole.config.mjs");
    const { writeFileSync } = await import("node:fs");
    writeFileSync(
      config,
      `import { createMcpSource } from ${JSON.stringify(join(process.cwd(), "src/sources/mcp/mcp-source.ts"))};
     export const sources = [createMcpSource("mail", { url: ${JSON.stringify(server.url)} }, { trusted: true })];`,
    );
    const run = async (...args: string[]) => {
      const child = spawn(process.execPath, ["src/program/main.ts", ...args, "--config", config], {
        env: { ...process.env, KEYHOLE_STATE: folder },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      let opened = false;
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          output += chunk;
          const url = /http:\S+\/authorize\S+/.exec(output)?.[0];
          if (url && !opened) void agree(new URL(url));
          opened ||= url !== undefined;
        });
      }
      const [code] = (await once(child, "close")) as [number];
      return { output, code };
    };
    expect(await run("login", "nobody")).toMatchObject({
      code: 1,
      output: expect.stringContaining("servers in the config: mail"),
    });
    expect(await run("login", "mail")).toMatchObject({
      code: 0,
      output: expect.stringContaining("Logged in to mail."),
    });
    expect((await run("login", "mail")).output).toContain("mail needs no login");
    expect((await run("logout", "mail")).output).toContain("Logged out of mail.");
  },
);
