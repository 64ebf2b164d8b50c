import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { DaemonConfigs } from "./daemon-configs.ts";

let home: string;
beforeEach(() => {
  home = temporaryFolder();
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_CACHE_HOME", join(home, "cache"));
  vi.stubEnv("KEYHOLE_STATE", join(home, "state"));
  return () => vi.unstubAllEnvs();
});

test.each([
  ["telemetry", { telemetry: { enabled: true } }],
  ["logging", { logging: { level: "debug" } }],
])("a client whose config sets %s is not served by a daemon that would ignore it", async (_, settings) => {
  const config = join(home, "mcp.json");
  const configs = new DaemonConfigs({ idleMs: 1_000, stored: join(home, "stored.db") });
  const request = {
    want: "serve" as const,
    serve: { config, shortcut: [], allowWrite: false, trust: false, cwd: home, env: { HOME: home } },
  };
  writeFileSync(config, JSON.stringify({ mcpServers: {}, ...settings }));
  await expect(configs.open(request, () => {})).rejects.toMatchObject({ code: "DAEMON_FAILED" });
  writeFileSync(config, JSON.stringify({ mcpServers: {} }));
  expect(await configs.open(request, () => {})).toMatchObject({ notes: [] });
  await configs.close();
});
