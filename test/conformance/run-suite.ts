import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installTool } from "../../scripts/tool.ts";

const PACKAGE = "node_modules/@modelcontextprotocol/conformance";

export interface Scenario {
  readonly name: string;
  readonly checks: number;
  readonly failed: number;
}

export function hasPassed({ checks, failed }: Scenario): boolean {
  return failed === 0 && checks > 0;
}

/** The folder of the official suite. */
export function suiteFolder(): string {
  return join(installTool("conformance"), PACKAGE);
}

/** Reads the summary of the suite, one line per scenario. */
export async function runSuite(revision: string, url: string): Promise<Scenario[]> {
  const results = mkdtempSync(join(tmpdir(), "keyhole-conformance-"));
  const program = join(suiteFolder(), "dist/index.js");
  const args = [program, "server", "--url", url, "--requirements", revision, "--output-dir", results];
  const suite = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const chunk of suite.stdout.setEncoding("utf8")) output += chunk;
  rmSync(results, { recursive: true, force: true });
  const lines = output
    .slice(output.indexOf("=== SUMMARY ==="))
    .matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm);
  return [...lines].map(([, name = "", passed, failed]) => ({
    name,
    checks: Number(passed) + Number(failed),
    failed: Number(failed),
  }));
}
