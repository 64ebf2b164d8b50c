// Does the first minute in a terminal, from the built package with real servers of npm, and draws it:
// npm run build && node scripts/record-first-minute.ts [FILE]. Needs tmux.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { recordTerminal } from "./record-terminal.ts";
import { toSvg } from "./terminal/to-svg.ts";
import { installTool } from "./tool.ts";

const [COLUMNS, ROWS] = [112, 34];
const LONG = 4_000;
/** Servers by their programs: four of the project's own packages, four of tools/servers. */
const OWN = {
  everything: "mcp-server-everything",
  filesystem: "mcp-server-filesystem",
  memory: "mcp-server-memory",
  thinking: "mcp-server-sequential-thinking",
};
const OTHERS = {
  chrome: "chrome-devtools-mcp",
  github: "mcp-server-github",
  notion: "notion-mcp-server",
  playwright: "playwright-mcp",
};
const SERVERS = { ...OWN, ...OTHERS };

const home = mkdtempSync(join(tmpdir(), "keyhole-minute-"));
try {
  const bin = join(home, "bin");
  mkdirSync(bin);
  const others = join(installTool("servers"), "node_modules/.bin");
  for (const program of Object.values(OWN))
    symlinkSync(resolve("node_modules/.bin", program), join(bin, program));
  for (const program of Object.values(OTHERS)) symlinkSync(join(others, program), join(bin, program));
  const program = `#!/bin/sh\nexec ${process.execPath} ${resolve("dist/bin/keyhole.cjs")} "$@"\n`;
  writeFileSync(join(bin, "keyhole"), program, { mode: 0o755 });
  writeGeminiConfig();
  const frames = await recordTerminal({
    command: ["bash", "--norc", "--noprofile"],
    folder: home,
    env: { HOME: home, PATH: `${bin}:${process.env.PATH}`, PS1: "$ ", KEYHOLE_NO_DAEMON: "1" },
    columns: COLUMNS,
    rows: ROWS,
    replace: [
      [process.execPath, "/usr/bin/node"],
      [resolve("node_modules/.bin"), "/usr/local/bin"],
      [others, "/usr/local/bin"],
      [resolve("dist/bin"), "/usr/local/bin"],
      [resolve("."), "/usr/local/lib/keyhole"],
      [home, "/home/you"],
    ],
    steps: [
      { sees: "$" },
      { type: "keyhole" },
      { press: ["Enter"] },
      { sees: "to count the tokens?", hold: LONG },
      { type: "y" },
      { press: ["Enter"] },
      { sees: "let its servers start?", hold: LONG },
      { type: "y" },
      { press: ["Enter"] },
      { sees: "Approve all of it?", hold: LONG },
      { type: "y" },
      { press: ["Enter"] },
      { sees: /Restart Gemini CLI[\s\S]*\n\$\s*$/, hold: 1_500 },
      { type: 'clear; keyhole ask "remember a fact about a person"' },
      { press: ["Enter"] },
      { sees: /memory\.add_observations[\s\S]*\n\$\s*$/, hold: LONG },
      { type: "keyhole disconnect gemini" },
      { press: ["Enter"] },
      { sees: "is as it was before", hold: LONG },
    ],
  });
  const file = process.argv[2] ?? "docs/first-minute.svg";
  writeFileSync(
    file,
    toSvg(frames, { columns: COLUMNS, rows: ROWS, title: "The first minute with Keyhole" }),
  );
  console.log(`${file}: ${frames.length} frames`);
  const shown = frames.flatMap(({ lines }) => lines.map((cells) => cells.map(({ text }) => text).join("")));
  const costs = shown.filter((line) => /^\d+ tools, .* tokens: |^\w+ \d+ \(|^ {2}Gemini CLI: /.test(line));
  console.log([...new Set(costs)].join("\n"));
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

function writeGeminiConfig(): void {
  const servers = Object.entries(SERVERS).map(([name, command]) => [
    name,
    { command, args: name === "filesystem" ? ["."] : [] },
  ]);
  mkdirSync(join(home, ".gemini"));
  const config = JSON.stringify({ mcpServers: Object.fromEntries(servers) }, null, 2);
  writeFileSync(join(home, ".gemini/settings.json"), config);
}
