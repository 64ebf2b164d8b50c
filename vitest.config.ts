import { defineConfig } from "vitest/config";
import { createClaimsReporter } from "./test/claims-reporter.ts";
import { isMeasuring } from "./test/is-measuring.ts";
import { MeasuringFirst } from "./test/measuring-first.ts";
import { COMPILED } from "./test/program-env.ts";

/** Tests that start the program, other processes, a terminal or a browser. */
const PROGRAM = [
  "test/{cli,clients,console,team}/*.test.ts",
  "test/{agent-killed,agent-overload,agent-prefix,agent-run,approve,chat,daemon}*.test.ts",
  "test/{coding-tasks,config-edit,doc-blocks,eval,first-answer,first-minute,langchain,manifests,markdown-index}.test.ts",
  "test/{models-new-provider,operation-commands,playground*,record-terminal}.test.ts",
  "test/{asks,run-killed,search,telemetry,walk}.test.ts",
  "test/faults/{leak,program,writes}.test.ts",
  "test/mcp/{cli,inspector,run-program}.test.ts",
  "test/origins/{agent-framework-run,orchestr8-server}.test.ts",
  "test/state/killing.test.ts",
  "test/threats/{t09-pins,t14-secrets,t20-*,t21-*,t22-asks}.test.ts",
  "src/agent/chat/{chat-servers,clipboard,custom-commands,hooks}.test.ts",
  "src/agent/loop/session-log.test.ts",
  "src/agent/models/providers/load-package.test.ts",
  "src/agent/permissions/shell/shell-properties.test.ts",
  "src/agent/tui/screens.test.ts",
  "src/agent/tools/desk.test.ts",
  "src/agent/workspace/{checkpoints,shell}.test.ts",
  "src/core/storage/{disk-result-store,sqlite-session-store}.test.ts",
  "src/program/open/{fill-secrets,keychain}.test.ts",
  "src/search/snapshot-file.test.ts",
  "src/sources/markdown/skills/hostile-skills.test.ts",
];
/** Tests in memory and on loopback, against MCP servers, HTTP, stores and PostgreSQL. */
const PROTOCOL = ["test/**/*.test.ts", "src/postgres/**/*.test.ts"];
/** Tests beside the code. */
const UNIT = ["src/**/*.test.ts"];

export default defineConfig({
  test: {
    reporters: ["default", createClaimsReporter()],
    sequence: { sequencer: MeasuringFirst },
    // Programs that tests start inherit the compiled code.
    env: { NODE_COMPILE_CACHE: COMPILED },
    isolate: false,
    // Most of the time tests wait for programs that they have started.
    maxWorkers: "100%",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      project("unit", UNIT, [...PROTOCOL, ...PROGRAM]),
      project("protocol", PROTOCOL, PROGRAM),
      project("program", PROGRAM),
    ],
  },
});

function project(name: string, include: string[], exclude: string[] = []) {
  // Tests with processes compete for time limits, so each has a second try. The claims reporter lists those that needed it.
  const retry = name === "unit" || isMeasuring() ? 0 : 1;
  return { extends: true as const, test: { name, include, exclude, retry } };
}
