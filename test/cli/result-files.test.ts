import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { programEnv } from "../program-env.ts";
import { MAIN, openProgram } from "../threats/program.ts";
import { eventually } from "../upstream-kit.ts";

test("a client that reads files gets a large result as a file of the state folder, until the daemon ends", async () => {
  const program = openProgram();
  onTestFinished(async () => void (await program.keyhole("serve", "--stop")));
  const report = program.write("report.md", `# Report\n${"A line of the report.\n".repeat(4_000)}`);
  const filesystem = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
  const files = { command: process.execPath, args: [join(process.cwd(), filesystem), program.folder] };
  const config = program.write("mcp.json", { mcpServers: { files } });
  const client = new Client({ name: "qwen-code", version: "1" });
  const args = [MAIN, "serve", "--trust", "--config", config];
  const env = programEnv(program.home);
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: program.folder, env, stderr: "ignore" }),
  );
  const read = { route: "files.read_text_file", params: { path: report } };
  const answer = async () => {
    const { content } = await client.callTool({ name: "get", arguments: { routes: [read] } });
    return content[0]?.type === "text" ? content[0].text : "";
  };
  await eventually(async () => expect(await answer()).toContain("result://"));
  const path = / and in (\S+?)[;\]]/.exec(await answer())?.[1] ?? "";
  expect(dirname(path)).toBe(join(program.home, ".local/state/keyhole/results"));
  expect(readFileSync(path, "utf8")).toContain(readFileSync(report, "utf8"));
  expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
  await client.close();
  await program.keyhole("serve", "--stop");
  await eventually(() => expect(existsSync(path)).toBe(false));
});
