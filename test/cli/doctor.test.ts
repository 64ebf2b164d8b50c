// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { changeBytes } from "../change-bytes.ts";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { keyhole } from "./kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");
const node = (...args: string[]) => ({ command: process.execPath, args });

function write(home: string, name: string, value: unknown, mode = 0o600): string {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value, null, 2));
  chmodSync(path, mode);
  return path;
}

interface Report {
  readonly code: number;
  readonly errors: string;
  readonly findings: readonly { level: string; about: string; cause: string; fix: string }[];
}

async function doctor(home: string, args: string[] = [], env: Record<string, string> = {}): Promise<Report> {
  const { out, errors, code } = await keyhole(home, ["doctor", "--json", ...args], env);
  return { code, errors, findings: JSON.parse(out).findings };
}

/** A fault: the server of that name, and the words of its cause and its fix. */
type Faults = Readonly<Record<string, readonly [server: object, cause: RegExp, fix: RegExp]>>;

function expectFaults({ findings }: Report, faults: Faults): void {
  for (const [name, [, cause, fix]] of Object.entries(faults)) {
    const found = findings.filter(({ about }) => about === `server ${name}`);
    expect([name, found]).toEqual([
      name,
      expect.arrayContaining([
        expect.objectContaining({ cause: expect.stringMatching(cause), fix: expect.stringMatching(fix) }),
      ]),
    ]);
  }
}

function configOf(home: string, faults: Faults): string {
  const servers = Object.entries(faults).map(([name, [server]]) => [name, server]);
  return write(home, "mcp.json", { mcpServers: Object.fromEntries(servers) });
}

verifies("doctor:names-cause", "faults of servers are found without starting any", async () => {
  const home = temporaryFolder();
  write(home, "plain.txt", "no program", 0o600);
  write(home, "path.env", "LD_PRELOAD=/tmp/evil.so", 0o600);
  const faults: Faults = {
    absent: [{ command: "no-such-program-here" }, /no-such-program-here is not on the PATH/, /absolute path/],
    uv: [{ command: "uvx-missing/uvx" }, /is not on the PATH/, /absolute path/],
    notexec: [{ command: join(home, "plain.txt") }, /no program that may run/, /^chmod \+x /],
    words: [{ command: "npx -y server" }, /has spaces, so it names no program/, /others into args/],
    cwd: [
      { ...node(CHAOS), cwd: "/no/such/folder" },
      /folder \/no\/such\/folder does not exist/,
      /Correct cwd/,
    ],
    cwdfile: [{ ...node(CHAOS), cwd: join(home, "plain.txt") }, /is no folder/, /Correct cwd/],
    variable: [
      { ...node(CHAOS), env: { KEY: "${NOT_SET_ANYWHERE}" } },
      /variable NOT_SET_ANYWHERE is not set/,
      /Set NOT_SET_ANYWHERE/,
    ],
    secret: [
      { ...node(CHAOS), env: { KEY: "${secret:github}" } },
      /secret github is not set/,
      /^keyhole secrets set github$/,
    ],
    envfile: [
      { ...node(CHAOS), envFile: "missing.env" },
      /envFile .*missing\.env does not exist/,
      /take envFile out/,
    ],
    envpath: [
      { ...node(CHAOS), envFile: join(home, "path.env") },
      /envFile .*path\.env sets LD_PRELOAD, which decides what runs; set it under env/,
      /Correct the file/,
    ],
    script: [node("./missing.js"), /runs \.\/missing\.js, which does not exist/, /Correct args/],
    noaddress: [{ url: "not an address" }, /url is no address/, /https:\/\/host\/path/],
    socket: [{ url: "ws://x.example/mcp" }, /begins with ws:/, /http and https/],
    plainhttp: [{ url: "http://x.example/mcp" }, /not encrypted/, /https:/],
    space: [
      { url: "https://x.example/mcp", headers: { Authorization: "Bearer abc\u00a0" } },
      /do not show/,
      /Type the value again/,
    ],
    twin1: [node(CHAOS, "twin"), /waits|^/, /./],
    twin2: [node(CHAOS, "twin"), /exactly what twin1 runs/, /^Remove one of them from /],
  };
  const report = await doctor(home, [
    "--config",
    configOf(home, { ...faults, twin1: faults.twin1! }),
    "--no-start",
  ]);
  const { twin1: _, ...expected } = faults;
  expectFaults(report, expected);
  expect(report.code).toBe(1);
  expect(report.findings.every(({ fix }) => fix.length > 0)).toBe(true);
});

verifies(
  "doctor:names-cause",
  "servers that do not answer are started once, and the reason is told",
  async () => {
    const home = temporaryFolder();
    const http = createServer((request, response) => {
      response.statusCode = Number(request.url?.slice(1)) || 500;
      response.end();
    });
    await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
    onTestFinished(() => void http.close());
    const { port } = http.address() as AddressInfo;
    const at = (path: string) => ({ url: `http://127.0.0.1:${port}/${path}` });
    const faults: Faults = {
      refused: [{ url: "http://127.0.0.1:1/mcp" }, /ECONNREFUSED/, /Start the server/],
      nohost: [{ url: "http://localhost.invalid/mcp" }, /ENOTFOUND|EAI_AGAIN/, /host of its url/],
      path: [at("404"), /HTTP 404/, /ends with \/mcp/],
      login: [at("401"), /wants a login/, /^keyhole login login --config \S+$/],
      down: [at("503"), /HTTP 503/, /server itself fails/],
      module: [
        node("-e", "require('no-such-module')"),
        /no-such-module|closed|exited/i,
        /Install what it needs/,
      ],
      key: [node("-e", "console.error('Missing API key'); process.exit(1)"), /API key/, /\$\{secret:NAME\}/],
      good: [node(CHAOS), /definitions wait for your approval/, /^keyhole approve good --config \S+$/],
    };
    const config = configOf(home, faults);
    const { out } = await keyhole(home, ["approve", "--config", config]);
    const hash = /Hash: (\S+)/.exec(out)?.[1] ?? "none";
    expect((await keyhole(home, ["approve", "--hash", hash, "--config", config])).out).toContain(
      "good may start.",
    );
    expectFaults(await doctor(home, ["--config", config]), faults);
  },
);

test("a server that waits for consent is not started", async () => {
  const home = temporaryFolder();
  const faults: Faults = {
    mine: [node(CHAOS), /waits for your approval/, /^keyhole approve mine --config \S+$/],
  };
  const report = await doctor(home, ["--config", configOf(home, faults)]);
  expectFaults(report, faults);
  expect(report.code).toBe(0);
});

verifies(
  "doctor:names-cause",
  "approvals that cannot be read or were changed by hand are found",
  async () => {
    const home = temporaryFolder();
    await keyhole(home, ["agents", "add", "ci"]);
    const path = join(home, ".local/state/keyhole/approvals.db");
    changeBytes(path, '"allowWrite":false', '"allowWrite":true ');
    const causeOf = async () => (await doctor(home)).findings.find(({ about }) => about === path);
    expect(await causeOf()).toMatchObject({
      cause: expect.stringContaining("are damaged and do not count: 1"),
      fix: expect.stringContaining("keyhole approve"),
    });
    rmSync(path);
    mkdirSync(path, { mode: 0o700 });
    expect(await causeOf()).toMatchObject({
      level: "problem",
      cause: expect.stringContaining("cannot be used now"),
      fix: expect.stringContaining("that you can read and write"),
    });
  },
);

verifies("doctor:names-cause", "damaged, exposed and unwritable state is found", async () => {
  const home = temporaryFolder();
  await keyhole(home, ["agents", "add", "ci"]);
  const state = join(home, ".local/state/keyhole");
  write(state, "approvals.db.damaged-1", "{");
  write(state, "secrets.db", "");
  chmodSync(join(state, "secrets.db"), 0o644);
  const [log] = readdirSync(join(state, "audit")).filter((name) => name.endsWith(".jsonl"));
  const path = join(state, "audit", log!);
  writeFileSync(path, readFileSync(path, "utf8").replace('"ci"', '"cx"'));
  write(home, ".cache", "a file in the place of a folder");
  const { findings } = await doctor(home);
  const cause = (about: string) => findings.find((one) => one.about.endsWith(about));
  expect(cause("approvals.db")).toMatchObject({
    cause: expect.stringContaining("damaged"),
    fix: expect.stringContaining("keyhole approve"),
  });
  expect(cause("secrets.db")).toMatchObject({ level: "warning", fix: expect.stringMatching(/^chmod 600 /) });
  expect(cause("audit")).toMatchObject({
    cause: expect.stringContaining("not intact"),
    fix: "keyhole logs verify",
  });
  expect(cause(".cache/keyhole")).toMatchObject({
    cause: expect.stringContaining("is a file"),
    fix: expect.stringContaining("Move"),
  });
});

verifies(
  "doctor:names-cause",
  "a folder of the system is repaired by a variable, never by changing that folder",
  async () => {
    const { findings } = await doctor(temporaryFolder(), [], { XDG_CACHE_HOME: "/sys/nowhere" });
    const fixes = findings.filter(({ about }) => about === "/sys/nowhere/keyhole").map(({ fix }) => fix);
    expect(fixes).toEqual(["Set XDG_CACHE_HOME to a folder that you can write."]);
  },
);

verifies("doctor:names-cause", "mistakes in files and variables are found with their place", async () => {
  const home = temporaryFolder();
  const settings = write(home, ".keyhole/settings.json", '{\n  "mcpServers": {},\n  "audits": {}\n}');
  write(home, ".cursor/mcp.json", "{ not json");
  write(home, ".codeium/windsurf/mcp_config.json", {
    mcpServers: { keyhole: { command: "/no/node", args: ["/no/main.js", "serve"] }, left: node(CHAOS) },
  });
  const { findings, code } = await doctor(home, [], { KEYHOLE_MODE: "never" });
  expect(code).toBe(1);
  const told = findings.map(({ about, cause, fix }) => `${about} | ${cause} | ${fix}`).join("\n");
  for (const pattern of [
    new RegExp(`${settings} \\| .*:3:3.*audits is not known; the nearest key is audit`),
    /environment \| .*KEYHOLE_MODE/,
    /\.cursor\/mcp\.json \| Cursor cannot read it either: .* \| Correct /,
    /mcp_config\.json \| Windsurf starts Keyhole from \/no\/node, which does not exist \| keyhole connect windsurf --undo/,
    /mcp_config\.json \| Windsurf starts Keyhole from \/no\/main\.js/,
    /mcp_config\.json \| Windsurf also has servers that are not behind Keyhole: left \| keyhole connect windsurf/,
  ])
    expect(told).toMatch(pattern);

  write(home, ".keyhole/settings.json", '{ "mcpServers": {');
  expect((await doctor(home)).findings).toContainEqual(
    expect.objectContaining({ about: settings, cause: expect.stringContaining(":1:") }),
  );
  expect((await doctor(home, ["--config", "missing.json"])).findings).toContainEqual(
    expect.objectContaining({ cause: expect.stringContaining("the file does not exist") }),
  );
  const broken = write(home, "mcp.json", {
    mcpServers: { both: { command: "x", url: "y" }, good: node(CHAOS) },
  });
  expect((await doctor(home, ["--config", broken, "--no-start"])).findings).toContainEqual(
    expect.objectContaining({
      cause: expect.stringContaining('the server "both": it has both a command and a url'),
    }),
  );
});

test("a machine without faults is told so", async () => {
  const home = temporaryFolder();
  expect(await keyhole(home, ["doctor"])).toMatchObject({
    code: 0,
    out: expect.stringContaining("all is well"),
  });
});
