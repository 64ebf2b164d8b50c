// Types the shell blocks of a page into bash, in the order of the page, in a home of its own.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { serveScriptedModel } from "keyhole/testing";
import type { DocBlock } from "./doc-blocks.ts";
import { programEnv } from "./program-env.ts";

export interface Typed {
  readonly code: number | null;
  /** All output, with the line of the page before each command. */
  readonly output: string;
}

/** Files of the home, by path. The person works in `work`; their Cursor has two servers. */
const FILES: Readonly<Record<string, string>> = {
  ".cursor/mcp.json": SERVERS(),
  "work/mcp.json": SERVERS(),
  "work/notes.txt": "Ship on Friday.\n",
  "work/notes/fragments/retries.md": "---\ntags: [http]\n---\n# Retries\n\nWait longer each time.\n",
};

const PATH = ".programs";

/** Programs beside those of the machine. npm installs nothing here: scripts/check-packed.ts installs the package. */
const PROGRAMS: Readonly<Record<string, string>> = {
  keyhole: `exec "${process.execPath}" "${resolve("test/typed-keyhole.ts")}" "$@"`,
  npm: 'case "$1" in install | uninstall) echo "npm $*" ;; *) echo "npm $* needs a clone" && exit 1 ;; esac',
  npx: `
[ "$1" = "-y" ] && shift
name="$1"; shift
[ "$name" = keyhole ] && exec keyhole "$@"
exec "${process.execPath}" "${resolve("node_modules")}/$name/dist/index.js" "$@"`,
};

/** Types the blocks that run. The script has every command on its line of the page, so that messages name it. */
export async function typeBlocks(blocks: readonly DocBlock[]): Promise<Typed> {
  const home = mkdtempSync(join(tmpdir(), "keyhole-page-"));
  const model = await serveScriptedModel(() => ({ text: "All tests pass." }));
  try {
    furnish(home);
    const page = join(home, "page.sh");
    write(page, scriptOf(blocks));
    const env = {
      ...programEnv(home),
      PATH: `${join(home, PATH)}:${dirname(process.execPath)}:${process.env.PATH}`,
      OPENAI_API_KEY: "not-a-key",
      OPENAI_BASE_URL: `${model.url}/v1`,
    };
    const child = spawn("bash", [page], { cwd: join(home, "work"), env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const read = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    const code = await new Promise<number | null>((done) => child.on("close", done));
    return { code, output };
  } finally {
    await model.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function furnish(home: string): void {
  for (const [path, text] of Object.entries(FILES)) write(join(home, path), text.replaceAll("~", home));
  for (const [name, text] of Object.entries(PROGRAMS)) {
    write(join(home, PATH, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(home, PATH, name), 0o755);
  }
}

function scriptOf(blocks: readonly DocBlock[]): string {
  const lines: string[] = ["set -euo pipefail; PS4='line $LINENO: '; set -x"];
  for (const { line, setup, code } of blocks) {
    if (setup !== "") lines[0] += `\n${setup}`;
    const before = lines.join("\n").split("\n").length;
    lines.push(...Array(Math.max(0, line - before - 1)).fill(""), code.trimEnd());
  }
  return `${lines.join("\n")}\n`;
}

function SERVERS(): string {
  const server = (name: string, ...args: string[]) => ({
    command: "npx",
    args: ["-y", `@modelcontextprotocol/server-${name}`, ...args],
  });
  const mcpServers = { files: server("filesystem", "~/work"), memory: server("memory") };
  return JSON.stringify({ mcpServers }, undefined, 2);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
