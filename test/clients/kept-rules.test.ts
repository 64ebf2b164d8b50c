import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished } from "vitest";
import { verifies } from "../claims.ts";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { listedHash, openProgram } from "../threats/program.ts";
import { eventually } from "../upstream-kit.ts";
import { write } from "./kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");
const TRACKER = resolve("test/tracker-upstream.ts");

verifies(
  "clients:restrictions",
  "Claude Code's deny, ask and allow rules hold behind Keyhole, and --undo touches none of them",
  async () => {
    const home = temporaryFolder();
    const { keyhole } = openProgram({ home, folder: home });
    onTestFinished(async () => {
      await keyhole("serve", "--stop");
    });
    const [path, rules] = [join(home, ".claude.json"), join(home, ".claude", "settings.json")];
    const [chaos, tracker] = [CHAOS, TRACKER].map((file) => ({ command: process.execPath, args: [file] }));
    const config = JSON.stringify({ mcpServers: { chaos, tracker } });
    const settings = JSON.stringify({
      permissions: {
        deny: ["mcp__chaos__fail"],
        ask: ["mcp__chaos__add", "mcp__chaos__count_*", "mcp__tracker__get_issue"],
        allow: ["mcp__chaos__slow", "mcp__chaos__*(x)"],
      },
    });
    write(path, config);
    write(rules, settings);
    const connected = await keyhole("connect", "claude-code", "--yes");
    expect(connected).toMatchObject({ code: 0 });
    expect(connected.out).toContain("without  fail");
    expect(connected.out).toMatch(/asks +add/);
    expect(connected.out).toMatch(/never asks +slow/);
    expect(connected.out).toContain("permissions.allow mcp__chaos__*(x) of");
    await eventually(async () => {
      const { out } = await keyhole("approve");
      expect((await keyhole("approve", "--hash", listedHash(out))).out).toContain("Approved");
    }, 60_000);

    const { command, args } = JSON.parse(readFileSync(path, "utf8")).mcpServers.keyhole;
    const client = new Client(
      { name: "claude-code", version: "1" },
      { capabilities: { elicitation: { form: {} } } },
    );
    const asked: string[] = [];
    const tools: unknown[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      tools.push(params._meta?.["keyhole/tool"]);
      return params.message.includes("chaos")
        ? { action: "accept", content: { approve: true } }
        : { action: "decline" };
    });
    const env = programEnv(home);
    await client.connect(new StdioClientTransport({ command, args, cwd: home, env, stderr: "ignore" }));
    onTestFinished(() => client.close());
    const call = async (name: string, given: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: given });
      return (content as { text: string }[])[0]?.text ?? "";
    };
    expect(await call("exec", { op: "chaos.fail" })).toContain("NOT_FOUND");
    expect(await call("ask", { query: "chaos.fail" })).not.toContain("tools/fail");
    expect(await call("exec", { op: "chaos.slow", args: { ms: 1 } })).toContain("at last");
    expect(asked).toEqual([]);
    expect(await call("exec", { op: "chaos.add", args: { sum: 3 } })).toContain('"sum":3');
    expect(asked).toEqual([expect.stringContaining("chaos.add")]);
    // The question has the names that the client's person knows, and a tool that reads asks too.
    const declined = await call("exec", { op: "tracker.get_issue", args: { number: 1 } });
    expect(declined).toContain("APPROVAL_DECLINED");
    expect(asked[1]).toContain("Run tracker.get_issue with");
    expect(tools).toEqual([
      { server: "chaos", tool: "add" },
      { server: "tracker", tool: "get_issue" },
    ]);

    const clean = await keyhole("doctor");
    expect(clean.out + clean.errors).not.toContain("has other rules");
    writeFileSync(rules, settings.replace("mcp__chaos__fail", "mcp__chaos__crash"));
    const changed = await keyhole("doctor");
    expect(changed.out + changed.errors).toContain("Claude Code has other rules about tools");
    writeFileSync(rules, settings);
    expect(await keyhole("disconnect", "claude-code")).toMatchObject({ code: 0 });
    expect([readFileSync(path, "utf8"), readFileSync(rules, "utf8")]).toEqual([config, settings]);
  },
);
