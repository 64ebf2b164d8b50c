// Has the programs that read the manifests of the built package judge them: the official MCPB tool unpacks the bundle,
// whose server must then list its tools, and Claude Code validates the plugin and its marketplace.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { installPackages } from "../bench/install-packages.ts";
import { claudeCode } from "../lab/clients/claude-code.ts";
import { installTool } from "./tool.ts";

const folder = mkdtempSync(join(tmpdir(), "keyhole-manifests-"));
try {
  const bundle = join(folder, "bundle");
  const mcpb = join(installTool("mcpb"), "node_modules/.bin/mcpb");
  run(mcpb, ["unpack", resolve("build/keyhole.mcpb"), bundle]);
  run(mcpb, ["validate", join(bundle, "manifest.json")]);
  await tryBundle(bundle);
  const claude = installPackages("clients", claudeCode.name, claudeCode.packages);
  if ("reason" in claude) console.error(`Claude Code judges nothing: ${claude.reason}`);
  else
    for (const path of ["dist", "dist/plugin"])
      run(join(claude.folder, "node_modules/.bin", claudeCode.bin), ["plugin", "validate", resolve(path)]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Starts the server of an unpacked bundle as its manifest says. */
async function tryBundle(bundle: string): Promise<void> {
  const { server, tools } = JSON.parse(readFileSync(join(bundle, "manifest.json"), "utf8"));
  const { args } = server.mcp_config as { args: string[] };
  const transport = new StdioClientTransport({
    command: process.execPath,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the variable of the format
    args: args.map((arg) => arg.replace("${__dirname}", bundle)),
    cwd: folder,
    env: { HOME: folder, KEYHOLE_NO_DAEMON: "1" },
  });
  const client = new Client({ name: "check", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  const names = (await client.listTools()).tools.map(({ name }) => name);
  await client.close();
  const promised = (tools as { name: string }[]).map(({ name }) => name);
  if (names.join() !== promised.join()) throw new Error(`The bundle serves ${names}, not ${promised}.`);
}

function run(program: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    env: { ...process.env, HOME: folder },
  });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  console.log(`${stdout}${stderr}`.trim());
}
