import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { editConfig } from "../../src/program/clients/edit-config.ts";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { clientOf, pathOf, setUp, write } from "./kit.ts";

interface Case {
  readonly client: string;
  /** Files of rules by their path in the home folder; a text, or JSON. */
  readonly files: Readonly<Record<string, unknown>>;
  /** Fields of the server's entry. */
  readonly entry?: object;
  /** The rules of the server `git hub` in the client's profile. */
  readonly rules: object;
  /** What the person is told, as parts of sentences. */
  readonly told?: readonly string[];
}

const SETTINGS = ".claude/settings.json";
const GOOSE = ".config/goose/permission.yaml";

const CASES: Readonly<Record<string, Case>> = {
  "Claude Code denies a tool, a pattern and asks": {
    client: "claude-code",
    files: {
      [SETTINGS]: {
        permissions: {
          deny: ["mcp__git_hub__delete_repo", "mcp__git_hub__drop_*", "Bash(rm *)", "mcp__other__x"],
          ask: ["mcp__git_hub__merge"],
          allow: ["mcp__git_hub__get_issue", "mcp__git_hub__merge"],
        },
      },
    },
    rules: {
      excludeTools: ["delete_repo", "drop_*"],
      askTools: { merge: "always", get_issue: "never" },
    },
  },
  "Claude Code denies a whole server": {
    client: "claude-code",
    files: { [SETTINGS]: { permissions: { deny: ["mcp__git_hub"], allow: ["mcp__git_hub__get_issue"] } } },
    rules: { disabled: true },
  },
  "Claude Code allows a whole server, asks by a pattern, and other forms are told": {
    client: "claude-code",
    files: {
      [SETTINGS]: {
        permissions: {
          ask: ["mcp__git_hub__write_*"],
          allow: ["mcp__git_hub__*", "mcp__*", "mcp__git_hub__get_*", "mcp__git_hub__x(path:/tmp/*)"],
        },
      },
    },
    rules: { askTools: { "*": "never", "write_*": "always" } },
    told: [
      "permissions.allow mcp__* of",
      "permissions.allow mcp__git_hub__get_* of",
      "it allows by a pattern",
      "permissions.allow mcp__git_hub__x(path:/tmp/*) of",
      "it depends on the arguments",
    ],
  },
  "Claude Code allows a whole server, and denies a tool by its arguments": {
    client: "claude-code",
    files: {
      [SETTINGS]: {
        permissions: {
          allow: ["mcp__git_hub"],
          deny: ["mcp__git_hub__write(path:/etc/*)", "mcp__git_hub__drop(*)"],
        },
      },
    },
    rules: { askTools: { "*": "never", write: "always", drop: "always" } },
    told: ["now asks about every call of the tool: it depends on the arguments"],
  },
  "Claude Code's project denies everywhere, and allows nothing": {
    client: "claude-code",
    files: {
      "site/.claude/settings.local.json": {
        permissions: { deny: ["mcp__git_hub__push"], allow: ["mcp__git_hub__get"] },
      },
    },
    rules: { excludeTools: ["push"] },
    told: ["permissions.deny mcp__git_hub__push of", "now holds in every folder", "it allows in one project"],
  },
  "Codex has approvals by tool": {
    client: "codex",
    files: {},
    entry: {
      default_tools_approval_mode: "prompt",
      disabled_tools: ["drop"],
      tools: { get: { approval_mode: "approve" }, put: { approval_mode: "auto" } },
    },
    rules: { excludeTools: ["drop"], askTools: { "*": "always", get: "never" } },
  },
  "Gemini CLI excludes tools, trusts a server, and has policies": {
    client: "gemini",
    files: {
      ".gemini/settings.json": {
        tools: { exclude: ["mcp_git_hub_push", "write_file", "run_shell_command(rm)"] },
      },
      ".gemini/policies/mine.toml": `[[rule]]
mcpName = "git hub"
toolName = ["drop", "merge"]
decision = "ask_user"
priority = 100
[[rule]]
mcpName = "git hub"
toolName = "*"
argsPattern = "secret"
decision = "deny"
priority = 200
`,
    },
    entry: { trust: true, excludeTools: ["old"] },
    rules: { excludeTools: ["old", "push"], askTools: { "*": "always" } },
    told: ["rule mcp_git_hub_* deny of", "now asks about every call", "it depends on the arguments"],
  },
  "Qwen Code has lists of both kinds": {
    client: "qwen",
    files: {
      ".qwen/settings.json": {
        tools: { exclude: ["mcp__git_hub__a"] },
        permissions: { deny: ["mcp__git_hub__b"], ask: ["mcp__git_hub__c"] },
      },
    },
    rules: { excludeTools: ["a", "b"], askTools: { c: "always" } },
  },
  "opencode: the last rule counts": {
    client: "opencode",
    files: {
      ".config/opencode/opencode.jsonc": {
        tools: { "git_hub_*": false },
        permission: {
          "git_hub_get*": "allow",
          git_hub_put: "ask",
          "*_drop": "deny",
          bash: { "rm *": "deny" },
        },
        agent: { plan: { tools: { "git_hub*": true } } },
      },
    },
    rules: {
      includeTools: ["get*", "put"],
      excludeTools: ["*_drop", "_drop", "drop"],
      askTools: { put: "always" },
    },
    told: [
      "permission git_hub_get* of",
      "it allows by a pattern",
      "agent.plan.tools git_hub* of",
      "one agent",
    ],
  },
  "opencode asks about everything": {
    client: "opencode",
    files: { ".config/opencode/opencode.jsonc": { permission: { "*": "ask", git_hub_get: "allow" } } },
    rules: { askTools: { "*": "always", get: "never" } },
  },
  "Cursor's command line denies, its editor allows": {
    client: "cursor",
    files: {
      ".cursor/cli-config.json": { permissions: { deny: ["Mcp(git hub:push)", "Shell(rm)"], allow: [] } },
      ".cursor/permissions.json": { mcpAllowlist: ["git hub:get"] },
    },
    rules: { excludeTools: ["push"], askTools: { get: "never" } },
  },
  "Zed has a default for each tool": {
    client: "zed",
    files: {
      ".config/zed/settings.json": {
        agent: {
          tool_permissions: {
            default: "allow",
            tools: {
              "mcp:git hub:push": { default: "deny" },
              "mcp:git hub:merge": { default: "confirm" },
              "mcp:git hub:sql": { default: "allow", always_deny: [{ pattern: "DROP" }] },
            },
          },
        },
      },
    },
    rules: { excludeTools: ["push"], askTools: { merge: "always", sql: "always" } },
    told: ["agent.tool_permissions.tools mcp:git hub:sql of", "now asks about every call"],
  },
  "Cline approves tools by itself": {
    client: "cline",
    files: {},
    entry: { autoApprove: ["get"], disabledTools: ["push"] },
    rules: { excludeTools: ["push"], askTools: { get: "never" } },
  },
  "Continue excludes, asks and allows by the bare name": {
    client: "continue",
    files: {
      ".continue/permissions.yaml": "exclude:\n  - push\nask:\n  - merge\nallow:\n  - get\n  - Bash(ls)\n",
    },
    rules: { excludeTools: ["push"], askTools: { merge: "always", get: "never" } },
    told: ["allow Bash(ls) of"],
  },
  "Goose has three lists": {
    client: "goose",
    files: {
      [GOOSE]:
        "user:\n  never_allow: [github__push]\n  ask_before: [github__merge]\n  always_allow: [github__get]\n",
    },
    rules: { excludeTools: ["push"], askTools: { merge: "always", get: "never" } },
  },
};

test.each(Object.entries(CASES))(
  "clients:restrictions: %s",
  async (_, { client, files, entry, rules, told = [] }) => {
    const home = temporaryFolder();
    const { machine, ownPath, connections, plan } = setUp(home);
    const row = clientOf(client);
    for (const [path, content] of Object.entries(files))
      write(join(home, path), typeof content === "string" ? content : JSON.stringify(content, null, 2));
    const path = pathOf(row, machine);
    const { at, format } = row.places(machine).find((place) => place.path === path)!;
    const server =
      client === "opencode"
        ? { type: "local", command: ["git-server"] }
        : client === "goose"
          ? { type: "stdio", cmd: "git-server", args: [] }
          : { command: "git-server" };
    const isList = row.dialect.isList ?? false;
    const edit = { at, remove: [], set: { "git hub": { ...server, ...entry } }, isList };
    const inFile = files[path.slice(home.length + 1)];
    const text = inFile === undefined ? "" : JSON.stringify(inFile, null, 2);
    write(path, await editConfig({ path, format }, text, [edit]));
    const before = [path, ...Object.keys(files).map((file) => join(home, file))].map((file) =>
      readFileSync(file, "utf8"),
    );

    const planned = await plan(row);
    const notes = planned.notes.join("\n");
    for (const part of told) expect(notes).toContain(part);
    if (told.length === 0) expect(notes).toBe("");
    await connections.make(planned);
    const { profiles, mcpServers } = JSON.parse(readFileSync(ownPath, "utf8"));
    expect(profiles[client].servers["git-hub"]).toEqual(rules);
    expect(mcpServers["git-hub"]).not.toHaveProperty("askTools");

    await connections.undo(client);
    const after = [path, ...Object.keys(files).map((file) => join(home, file))].map((file) =>
      readFileSync(file, "utf8"),
    );
    expect(after).toEqual(before);
    rmSync(dirname(ownPath), { recursive: true });
  },
);

verifies("clients:restrictions", "a file of rules that cannot be read is told", async () => {
  const home = temporaryFolder();
  const { machine, plan } = setUp(home);
  const claude = clientOf("claude-code");
  write(pathOf(claude, machine), JSON.stringify({ mcpServers: { x: { command: "x" } } }));
  write(join(home, SETTINGS), "{ broken");
  expect((await plan(claude)).notes).toEqual([
    expect.stringContaining(`Rules in ${join(home, SETTINGS)} are not`),
  ]);
});

verifies("clients:environment", "Keyhole's entry names the variables that its servers need", async () => {
  const home = temporaryFolder();
  const { machine, plan } = setUp(home);
  const codex = clientOf("codex");
  write(
    pathOf(codex, machine),
    `[mcp_servers.x]
command = "x"
env_vars = ["X_TOKEN"]
[mcp_servers.y]
url = "https://y.example"
bearer_token_env_var = "Y_TOKEN"
`,
  );
  const { files, unset } = await plan(codex, { machine: { ...machine, env: { X_TOKEN: "1" } } });
  expect(files[0]!.after).toContain('env_vars = [ "X_TOKEN", "Y_TOKEN" ]');
  expect(unset).toEqual(["Y_TOKEN"]);

  const gemini = clientOf("gemini");
  write(
    pathOf(gemini, machine),
    JSON.stringify({ mcpServers: { x: { command: "x", env: { A: "$G_TOKEN" } } } }),
  );
  const planned = await plan(gemini, { machine: { ...machine, env: { G_TOKEN: "1" } } });
  expect(JSON.parse(planned.files[0]!.after).mcpServers.keyhole.env).toEqual({ G_TOKEN: "$G_TOKEN" });
  expect(planned.unset).toEqual([]);
});
