// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fromMcpConfig } from "keyhole/sources";
import { expect } from "vitest";
import { installTool } from "../scripts/tool.ts";
import { showProgram } from "../src/core/access/consents.ts";
import { isolationMissing } from "./bubblewrap.ts";
import { verifies } from "./claims.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { unlessUnreachable } from "./unless-unreachable.ts";
import { eventually, gatewayOf, PATIENT } from "./upstream-kit.ts";

const fault = await isolationMissing();
const tools = fault === undefined ? await unlessUnreachable(() => installTool("servers")) : undefined;
const CHROMIUM = "/usr/bin/chromium";

const { resolve } = createRequire(import.meta.url);
const official = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(dirname(resolve(`@modelcontextprotocol/${name}/package.json`)), "dist/index.js"), ...args],
});

/** Serves isolated servers of a person with a home and a project of their own. */
function serve(mcpServers: Readonly<Record<string, object>>, home = temporaryFolder()) {
  const folder = join(home, "project");
  mkdirSync(folder);
  const environment = { PATH: process.env.PATH, HOME: home };
  const isolation = { hidden: [join(home, ".keyhole")] };
  const options = { trusted: true, environment, isolation, cwd: folder, limits: PATIENT };
  const sources = fromMcpConfig({ mcpServers }, options);
  return { home, folder, sources, gateway: gatewayOf(sources, { ask: "never" }) };
}

verifies("upstream:isolated", "filesystem, memory and everything work in the sandbox", async ({ skip }) => {
  if (fault !== undefined) return skip();
  const data = temporaryFolder();
  const { folder, gateway } = serve({
    everything: official("server-everything"),
    files: official("server-filesystem", data),
    project: official("server-filesystem", "."),
    memory: { ...official("server-memory"), env: { MEMORY_FILE_PATH: join(data, "memory.jsonl") } },
  });
  try {
    const run = (op: string, args: object) => gateway.exec({ op, args: { ...args }, dryRun: false });
    const content = "Ship on Friday.";
    await eventually(async () => {
      const written = await run("files.write_file", { path: join(data, "note.txt"), content });
      expect(written).toMatchObject({ ok: true });
    }, 60_000);
    expect((await run("files.read_text_file", { path: join(data, "note.txt") })).text).toContain("Friday");
    expect(readFileSync(join(data, "note.txt"), "utf8")).toBe(content);
    const inProject = { path: join(folder, "new.txt"), content };
    expect(await run("project.write_file", inProject)).toMatchObject({ ok: true });
    const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }];
    expect(await run("memory.create_entities", { entities })).toMatchObject({ ok: true });
    expect((await run("memory.search_nodes", { query: "Ada" })).text).toContain("programs");
    expect((await run("everything.get-sum", { a: 2, b: 3 })).text).toContain("5");
  } finally {
    await gateway.close();
  }
});

verifies("upstream:isolated", "a server that npx starts works in the sandbox", async ({ skip }) => {
  if (fault !== undefined) return skip();
  const { folder } = serve({});
  // Without a registry: npx runs the package that the project has.
  const bin = join(folder, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"name":"x","version":"1.0.0"}');
  const [entry = ""] = official("server-memory").args;
  writeFileSync(join(bin, "mcp-memory"), `#!/bin/sh\nexec '${process.execPath}' '${entry}'\n`, {
    mode: 0o755,
  });
  const npx = { command: "npx", args: ["-y", "--offline", "mcp-memory"], cwd: folder };
  const { home, gateway } = serve({ memory: { ...npx, sandbox: { folders: [dirname(dirname(entry))] } } });
  try {
    await eventually(async () => {
      expect((await gateway.exec({ op: "memory.read_graph", args: {} })).text).toContain("entities");
    }, 60_000);
    expect(existsSync(join(home, ".npm"))).toBe(true);
  } finally {
    await gateway.close();
  }
});

verifies(
  "upstream:isolated",
  "a server that is reached by links works, in a home that is one too",
  async ({ skip }) => {
    if (fault !== undefined) return skip();
    const links = temporaryFolder();
    const { command, args } = official("server-memory");
    symlinkSync(dirname(dirname(args[0]!)), join(links, "server"));
    symlinkSync("server", join(links, "newest"));
    const home = temporaryFolder();
    symlinkSync(home, join(links, "home"));
    mkdirSync(join(home, "notes"));
    const { gateway } = serve(
      {
        memory: {
          command,
          args: [join(links, "newest/dist/index.js")],
          env: { MEMORY_FILE_PATH: "${HOME}/notes/memory.json" },
        },
      },
      join(links, "home"),
    );
    try {
      const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }];
      await eventually(async () => {
        const created = await gateway.exec({
          op: "memory.create_entities",
          args: { entities },
          dryRun: false,
        });
        expect(created).toMatchObject({ ok: true });
      }, 60_000);
      expect(readFileSync(join(home, "notes/memory.json"), "utf8")).toContain("Ada");
    } finally {
      await gateway.close();
    }
  },
);

verifies(
  "upstream:isolated",
  "two servers that replace one file of the home work with it, and see what others save there",
  async ({ skip }) => {
    if (fault !== undefined) return skip();
    const memory = { ...official("server-memory"), env: { MEMORY_FILE_PATH: "${HOME}/memory.json" } };
    const { home, gateway, sources } = serve({ one: memory, two: memory });
    const file = join(home, "memory.json");
    expect(showProgram(sources[0]!.program()).join("\n")).not.toContain("note");
    const create = (server: string, name: string) => {
      const entities = [{ name, entityType: "person", observations: ["writes programs"] }];
      return gateway.exec({ op: `${server}.create_entities`, args: { entities }, dryRun: false });
    };
    const seenBy = async (server: string) =>
      (await gateway.exec({ op: `${server}.read_graph`, args: {}, dryRun: false })).text;
    try {
      await eventually(async () => expect(await create("one", "Ada")).toMatchObject({ ok: true }), 60_000);
      await eventually(() => expect(readFileSync(file, "utf8")).toContain("Ada"));
      await eventually(async () => expect(await seenBy("two")).toContain("Ada"));
      expect(await create("two", "Grace")).toMatchObject({ ok: true });
      await eventually(async () => expect(await seenBy("one")).toContain("Grace"));
      // A person's editor replaces the file, too.
      const more = JSON.stringify({ type: "entity", name: "Alan", entityType: "person", observations: [] });
      writeFileSync(`${file}.new`, `${readFileSync(file, "utf8")}\n${more}`);
      renameSync(`${file}.new`, file);
      await eventually(async () => expect(await seenBy("one")).toContain("Alan"));
    } finally {
      await gateway.close();
    }
    expect(readFileSync(file, "utf8")).toMatch(/Ada.*Grace.*Alan/s);
    await eventually(() => expect(readdirSync(join(home, ".local/state/keyhole/held"))).toEqual([]));
  },
);

verifies(
  "upstream:isolated",
  "Notion, Playwright and Chrome DevTools work in the sandbox",
  async ({ skip }) => {
    if (tools === undefined) return skip();
    if (!existsSync(CHROMIUM)) {
      console.warn(`Tests of browsers in the sandbox are skipped: ${CHROMIUM} is not there.`);
      return skip();
    }
    const bin = (name: string) => join(tools, "node_modules", name);
    const node = (file: string, ...args: string[]) => ({
      command: process.execPath,
      args: [bin(file), ...args],
    });
    const { gateway } = serve({
      notion: { ...node("@notionhq/notion-mcp-server/bin/cli.mjs"), env: { NOTION_TOKEN: "ntn_none" } },
      playwright: node(
        "@playwright/mcp/cli.js",
        ...["--headless", "--no-sandbox", "--isolated", "--executable-path", CHROMIUM],
      ),
      devtools: node(
        "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js",
        ...["--headless", "--isolated", "--executablePath", CHROMIUM, "--chromeArg=--no-sandbox"],
      ),
    });
    try {
      const url = "data:text/html,<title>Keyhole</title><h1>In the sandbox</h1>";
      const run = (op: string, args: object) => gateway.exec({ op, args: { ...args }, dryRun: false });
      await eventually(async () => {
        expect((await run("playwright.browser_navigate", { url })).text).toContain("Keyhole");
      }, 120_000);
      expect((await run("playwright.browser_snapshot", {})).text).toContain("In the sandbox");
      await eventually(async () => {
        expect((await run("devtools.new_page", { url })).text).toMatch(/Keyhole|data:text/);
      }, 120_000);
      expect((await run("devtools.list_pages", {})).text).toContain("data:text");
      const { hits } = await gateway.ask({ query: "notion: search pages" });
      expect(hits[0]?.op).toMatch(/^notion\./);
    } finally {
      await gateway.close();
    }
  },
);
