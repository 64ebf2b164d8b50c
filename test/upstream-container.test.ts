import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fromMcpConfig } from "keyhole/sources";
import { expect, onTestFinished, vi } from "vitest";
import { showProgram } from "../src/core/access/consents.ts";
import { readServerConfig } from "../src/sources/mcp/config/server-config.ts";
import { verifies } from "./claims.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { eventually, gatewayOf, PATIENT } from "./upstream-kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

/**
 * Stands in for the engine, which does not run on every machine: it records its arguments and starts the program after
 * the image by itself.
 */
function standIn(name: string): { readonly path: string; calls(): string[][] } {
  const folder = temporaryFolder();
  const log = join(folder, "calls.jsonl");
  const path = join(folder, name);
  writeFileSync(log, "");
  writeFileSync(
    path,
    `#!${process.execPath}
const words = process.argv.slice(2);
require("fs").appendFileSync(${JSON.stringify(log)}, JSON.stringify(words) + "\\n");
const [program, ...args] = words.slice(words.indexOf("node:22") + 1);
if (words[0] === "run") require("child_process").spawn(program, args, { stdio: "inherit" }).on("exit", process.exit);
`,
  );
  chmodSync(path, 0o755);
  vi.stubEnv("PATH", `${folder}:/usr/bin:/bin`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const lines = () => readFileSync(log, "utf8").split("\n").filter(Boolean);
  return { path, calls: () => lines().map((line) => JSON.parse(line)) };
}

verifies("upstream:container", "a server runs in a container, and nothing of it is left", async () => {
  const { path, calls } = standIn("docker");
  const data = join(temporaryFolder(), "a,b");
  mkdirSync(data);
  const server = {
    container: "node:22",
    command: process.execPath,
    args: [CHAOS],
    env: { TOKEN: "value-4711" },
    sandbox: { folders: [data, "~/Notes", "./out"] },
    cwd: data,
  };
  const sources = fromMcpConfig(
    { mcpServers: { boxed: server } },
    { trusted: true, limits: PATIENT, isolation: { hidden: [] } },
  );
  const shown = showProgram(sources[0]!.program()).join("\n");
  expect(shown).toContain(`runs     ${path} run -i --rm --init`);
  expect(shown).toContain("inside   the container node:22");
  const gateway = gatewayOf(sources, { ask: "never" });
  try {
    await eventually(async () => {
      expect(await gateway.ask({ query: "boxed: echo" })).toMatchObject({ ok: true });
      expect(calls()).not.toEqual([]);
    }, 20_000);
  } finally {
    await gateway.close();
  }
  const [run, removed] = calls();
  const name = run![2]!;
  expect(name).toMatch(/^keyhole-[0-9a-f-]{36}$/);
  const notes = join(homedir(), "Notes");
  expect(run).toEqual([
    ...["run", "--name", name, "-i", "--rm", "--init", "--security-opt", "no-new-privileges"],
    ...["--network", "none"],
    ...["--mount", `type=bind,"source=${data}","target=${data}"`],
    ...["--mount", `type=bind,source=${notes},target=${notes}`],
    ...["--mount", `type=bind,"source=${data}/out","target=${data}/out"`],
    ...["--env", "TOKEN", "node:22", process.execPath, CHAOS],
  ]);
  expect(removed).toEqual(["rm", "--force", name]);
});

verifies("upstream:container", "podman is used where docker is not, and the image has a program", () => {
  const { path } = standIn("podman");
  const config = { container: "ghcr.io/some/server:1", sandbox: { network: "all" } };
  expect(readServerConfig("one", config)).toMatchObject({
    command: path,
    args: ["run", "-i", "--rm", "--init", "--security-opt", "no-new-privileges", "ghcr.io/some/server:1"],
  });
});

verifies(
  "upstream:container",
  "what a container cannot have is refused, and no option passes as an image",
  () => {
    const wrong = [
      [{ sandbox: false }, /has limits/],
      [{ sandbox: { network: ["api.example.com"] } }, /no list of hosts/],
      [{ envFile: ".env" }, /not from envFile/],
      [{ container: "--privileged" }, /container/],
      [{ container: "image --privileged" }, /container/],
      [{ url: "https://example.com" }, /both/],
    ] as const;
    for (const [more, reason] of wrong)
      expect(() => readServerConfig("one", { container: "image", ...more }), JSON.stringify(more)).toThrow(
        reason,
      );
  },
);
