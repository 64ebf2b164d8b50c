import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createGateway, loadTokenCounter } from "keyhole";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemRows } from "../bench/systems.ts";
import { GUEST } from "../examples/playground/principals.ts";
import { createSystems } from "../examples/playground/systems.ts";
import { THINGS_TO_TRY } from "../examples/playground/things-to-try.ts";
import { verifies } from "./claims.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const [NODE, SCRIPT = ""] = JSON.parse(readFileSync("package.json", "utf8")).scripts.start.split(" ");
const INSPECTOR_MS = 60_000;

interface Started {
  readonly child: ChildProcess;
  readonly printed: string;
  readonly env: { readonly KEYHOLE_URL: string; readonly KEYHOLE_TOKEN: string; readonly GUEST: string };
}

/** Starts what `npm start` runs and waits for its last line. */
async function start(...args: string[]): Promise<Started> {
  expect(NODE).toBe("node");
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  await vi.waitFor(() => expect(printed).toContain("Ctrl-C"), { timeout: 60_000, interval: 20 });
  const shown = (name: string) => new RegExp(`^export ${name}=(\\S+)`, "m").exec(printed)?.[1] ?? "";
  const env = {
    KEYHOLE_URL: shown("KEYHOLE_URL"),
    KEYHOLE_TOKEN: shown("KEYHOLE_TOKEN"),
    GUEST: shown("GUEST"),
  };
  return { child, printed, env };
}

test("a port in use is told in a sentence, with the option that chooses another", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const child = spawn(process.execPath, [SCRIPT, "--port", `${port}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const [code] = await once(child, "close");
  taken.close();
  expect(code).toBe(1);
  expect(errors.trimEnd()).toMatch(/^[^\n]*another program uses the port[^\n]*--port NUMBER[^\n]*$/);
});

/** Runs a command of the page. Undefined if it does not end in time. */
async function shell(command: string, env: Started["env"], ms: number, cwd = process.cwd()) {
  const child = spawn("sh", ["-c", command], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: { ...process.env, ...env, MCP_INSPECTOR_SECRET_STORE: "memory" },
  });
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), ms);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, "close");
  clearTimeout(timer);
  return { code, stdout, stderr };
}

async function connectAs(token: string, url: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  return client;
}

function textOf({ content }: { readonly content?: unknown }): string {
  return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("\n");
}

describe("npm start", () => {
  let started: Started;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(async () => {
    started.child.kill("SIGKILL");
  });

  const [ask = "", get = "", exec = "", inspector = ""] = THINGS_TO_TRY.map(({ command }) => command);
  const create = { op: "onto.project.create", args: { title: "A project of the test" } };

  verifies("playground:start", "prints the cost of listing everything and of the menu", async () => {
    const [all = 0, menu = 0] = [...started.printed.matchAll(/([\d,]+) tokens/g)].map(([, number]) =>
      Number(number!.replaceAll(",", "")),
    );
    expect(menu).toBeLessThanOrEqual(900);
    expect(all).toBeGreaterThan(menu * 10);
    // Output to a pipe has plain lines only.
    expect(started.printed).not.toContain("\u001b");
    expect(started.env.KEYHOLE_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect(started.env.KEYHOLE_TOKEN).not.toBe(started.env.GUEST);
  });

  verifies("playground:start", "the page of examples has the commands that it prints", () => {
    const page = readFileSync("examples/README.md", "utf8");
    for (const { command } of THINGS_TO_TRY) {
      expect(page).toContain(command);
      expect(started.printed).toContain(command);
    }
  });

  verifies("playground:start", "the first thing to try finds the tools for both needs", async () => {
    const { stdout } = await shell(ask, started.env, 30_000);
    const tools = [...stdout.matchAll(/^\d+\. ([\w.]+)/gm)].map(([, tool]) => tool);
    expect(tools.slice(0, 2)).toEqual(["cms.post.create", "onto.task.update"]);
  });

  verifies("playground:start", "the second unveils tools that ask does not show", async () => {
    const { stdout } = await shell(get, started.env, 30_000);
    expect(stdout).toMatch(/Next:\n(?:.|\n)*warehouse:\/\/tools\/hidden\/user-investigation/);
    const asGuest = await shell(`KEYHOLE_TOKEN=$GUEST ${get}`, started.env, 30_000);
    expect(asGuest.stdout).toContain("warehouse://tools/hidden/query");
    expect(asGuest.stdout).not.toContain("warehouse://tools/hidden/query-write");
  });

  verifies("playground:start", "the third changes something, which a guest may not", async () => {
    const made = await shell(exec, started.env, 30_000);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(made.stdout).toContain('"title":"My first project"');
    const refused = await shell(`KEYHOLE_TOKEN=$GUEST ${exec}`, started.env, 30_000);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("PERMISSION_DENIED")]);
  });

  verifies("playground:start", "the fourth does the same by the official Inspector", async ({ skip }) => {
    const folder = temporaryFolder();
    const run = (command: string) => shell(command, started.env, INSPECTOR_MS, folder);
    let made = await run(inspector);
    if (made.code !== 0) {
      const version = await run(inspector.replace(/--cli[\s\S]*/, "--cli --version"));
      if (version.code !== 0) {
        const why = version.stderr.trim().split("\n").at(-1) || `no answer within ${INSPECTOR_MS} ms`;
        console.warn(`skipped: npx cannot run the Inspector: ${why}`);
        skip();
      }
      // npx may have spent the first attempt on the download.
      made = await run(inspector);
    }
    expect([made.code, made.code === 0 ? "" : made.stderr]).toEqual([0, ""]);
    expect(textOf(JSON.parse(made.stdout))).toContain('"title":"My second project"');
  });

  verifies("playground:start", "the playground may write, a guest may only read", async () => {
    const playground = await connectAs(started.env.KEYHOLE_TOKEN, started.env.KEYHOLE_URL);
    const guest = await connectAs(started.env.GUEST, started.env.KEYHOLE_URL);
    const titles = async () => {
      const routes = [{ route: "onto.project.list", params: { limit: 50 } }];
      return textOf(await guest.callTool({ name: "get", arguments: { routes } }));
    };
    const refused = await guest.callTool({ name: "exec", arguments: { ...create, dry_run: false } });
    expect(textOf(refused)).toContain("PERMISSION_DENIED");
    expect(await titles()).not.toContain("A project of the test");
    const made = await playground.callTool({ name: "exec", arguments: create });
    expect(made.isError).toBeFalsy();
    expect(await titles()).toContain("A project of the test");

    const { prompts } = await guest.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["add-feature", "fix-bug", "new-project"]);
    await playground.close();
    await guest.close();
  });

  verifies("playground:start", "other callers are refused", async () => {
    for (const authorization of ["", "Bearer", "Bearer kh_wrong", `Basic ${started.env.KEYHOLE_TOKEN}`]) {
      const { status } = await fetch(started.env.KEYHOLE_URL, {
        method: "POST",
        headers: { authorization },
        body: "{}",
      });
      expect(status, authorization).toBe(401);
    }
  });
});

verifies("playground:start", "it serves another surface and port, and a signal ends it", async () => {
  const { child, env } = await start("--surface", "native", "--port", "0");
  const client = await connectAs(env.GUEST, env.KEYHOLE_URL);
  expect((await client.listTools()).tools.length).toBeGreaterThan(50);
  await client.close();
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

verifies(
  "playground:start",
  "over stdio it serves the playground's principal and ends with its client",
  async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [SCRIPT, "--stdio"],
      stderr: "pipe",
    });
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(transport);
    const args = { op: "onto.project.create", args: { title: "Over stdio" } };
    expect((await client.callTool({ name: "exec", arguments: args })).isError).toBeFalsy();
    const { pid } = transport;
    await client.close();
    expect(() => process.kill(pid!, 0)).toThrow(/ESRCH/);
  },
);

test.each([["--port", "x"], ["--port", "70000"], ["--surface", "other"], ["--colour"]])(
  "npm start %s %s prints its usage",
  async (...args) => {
    const child = spawn(process.execPath, [SCRIPT, ...args.filter(Boolean)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    expect((await once(child, "close"))[0]).toBe(2);
    expect(errors).toContain("Usage: npm start");
  },
);

verifies("playground:start", "a guest runs no writing tool of any system", async () => {
  const systems = createSystems();
  const gateway = createGateway({
    domains: systems.flatMap(({ domains }) => domains),
    sources: systems.flatMap(({ sources }) => sources),
    principal: GUEST,
  });
  const { entries } = await gateway.view();
  const writing = entries.filter(({ kind, lane }) => kind === "tool" && lane !== "read");
  expect(writing.length).toBeGreaterThan(40);
  for (const { route, op, examples } of writing) {
    const answer = await gateway.exec({ op, args: examples[0]?.args ?? {}, dryRun: false });
    expect(answer, route).toMatchObject({ ok: false, error: { code: "PERMISSION_DENIED" } });
  }
  await gateway.close();
  await Promise.all(systems.map((system) => system.close()));
});

test("the benchmark of tokens has a case for each of the four systems", async () => {
  const rows = await systemRows(await loadTokenCounter());
  const metrics = ["tools", "list_all_tokens", "menu_tokens", "saved_share"];
  expect(rows.map((row) => `${row.case} ${row.metric}`)).toEqual(
    ["onto", "cms", "warehouse", "library"].flatMap((name) => metrics.map((metric) => `${name} ${metric}`)),
  );
  for (const { metric, value } of rows) {
    if (metric === "menu_tokens") expect(value).toBeLessThanOrEqual(900);
    if (metric === "saved_share") expect(value).toBeGreaterThan(0.5);
  }
});
