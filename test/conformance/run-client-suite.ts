import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { mapLimit } from "../../src/base/util/map-limit.ts";
import { type Scenario, suiteFolder } from "./run-suite.ts";

const CLIENT = `${process.execPath} test/conformance/client.ts`;
const TIMEOUT_MS = 120_000;
/** The suite would start all clients at once and time out on a small machine. */
const AT_A_TIME = 2;

/** Runs the client scenarios of a revision, each with one of our upstream clients. */
export async function runClientSuite(revision: string): Promise<Scenario[]> {
  const { client, not_scored } = parse(
    readFileSync(join(suiteFolder(), `requirements/${revision}.yaml`), "utf8"),
  ) as {
    client: string[];
    not_scored: { scenario: string; leg: string }[];
  };
  const others = not_scored.filter(({ leg }) => leg === "client").map(({ scenario }) => scenario);
  return mapLimit([...client, ...others], AT_A_TIME, (name) => runScenario(name, revision));
}

async function runScenario(name: string, revision: string): Promise<Scenario> {
  const results = mkdtempSync(join(tmpdir(), "keyhole-conformance-"));
  const which = ["--scenario", name, "--spec-version", revision, "--force", "--timeout", String(TIMEOUT_MS)];
  const args = [join(suiteFolder(), "dist/index.js"), "client", "--command", CLIENT, ...which, "-o", results];
  const suite = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [suite.stdout, suite.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve) => suite.once("close", resolve));
  rmSync(results, { recursive: true, force: true });
  const [, passed, all] = /^Passed: (\d+)\/(\d+)/m.exec(output) ?? [];
  const failed = Number(all ?? 0) - Number(passed ?? 0);
  return { name, checks: Number(all ?? 0), failed: code === 0 ? failed : Math.max(1, failed) };
}
