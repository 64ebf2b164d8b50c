// Plays the first minute in a terminal: `keyhole` finds four real servers of npm in one client, and in thirteen, counts
// their tokens, connects and approves. Prints a table: npm run build && node scripts/first-minute.ts. Needs tmux.
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../src/program/clients/client.ts";
import { CLIENTS } from "../src/program/clients/clients.ts";
import { editConfig } from "../src/program/clients/edit-config.ts";
import { openTmux, type Tmux } from "./terminal/tmux.ts";

export interface MinuteOptions {
  /** How many clients the person has: Gemini CLI, then those of `CLIENTS` in their order. */
  readonly clients: number;
  readonly columns: number;
  readonly rows: number;
  /** The file that Node runs as `keyhole`. */
  readonly program: string;
  /** An empty folder. */
  readonly home: string;
}

export interface Minute extends Pick<MinuteOptions, "clients" | "columns" | "rows"> {
  readonly commands: number;
  /** The lines on the screen at each answer, since the answer before. */
  readonly lines: readonly number[];
  readonly seconds: number;
  /** The whole text of the terminal. */
  readonly text: string;
}

/** An answer that does not show yet would leave its question to be taken for the next. */
const ECHO_MS = 50;
const FIRST = "gemini";
const SERVERS = {
  everything: "mcp-server-everything",
  filesystem: "mcp-server-filesystem",
  memory: "mcp-server-memory",
  thinking: "mcp-server-sequential-thinking",
};

/** Plays a person who says yes to everything. */
export async function playFirstMinute(options: MinuteOptions): Promise<Minute> {
  const { clients, columns, rows, home } = options;
  await setUpHome(options);
  const env = {
    HOME: home,
    PATH: `${join(home, "bin")}:${process.env.PATH}`,
    PS1: "$ ",
    KEYHOLE_NO_DAEMON: "1",
  };
  const terminal = openTmux({ command: ["bash", "--norc", "--noprofile"], folder: home, env, columns, rows });
  try {
    await terminal.waitFor("$");
    const started = performance.now();
    terminal.type("keyhole");
    terminal.press("Enter");
    const lines: number[] = [];
    let before = 0;
    while ((await nextQuestion(terminal)) !== "end") {
      const shown = terminal.history();
      lines.push(shown.length - before);
      terminal.type(shown.at(-1) === ">" ? "all" : "y");
      terminal.press("Enter");
      while (terminal.history().at(-1) === shown.at(-1)) await sleep(ECHO_MS);
      before = shown.length;
    }
    const seconds = (performance.now() - started) / 1_000;
    return { clients, columns, rows, commands: 1, lines, seconds, text: terminal.history().join("\n") };
  } finally {
    terminal.close();
  }
}

/** Waits for the next question, or for the end. */
async function nextQuestion(terminal: Tmux): Promise<"question" | "end"> {
  await terminal.waitFor(/(?:\[y\/N.*\]|\n>)\s*$|goes back\.\n\$\s*$/);
  return /goes back\.\n\$\s*$/.test(terminal.text()) ? "end" : "question";
}

async function setUpHome({ clients, program, home }: MinuteOptions): Promise<void> {
  const bin = join(home, "bin");
  mkdirSync(bin);
  for (const server of Object.values(SERVERS))
    symlinkSync(resolve("node_modules/.bin", server), join(bin, server));
  const script = `#!/bin/sh\nexec ${process.execPath} ${resolve(program)} "$@"\n`;
  writeFileSync(join(bin, "keyhole"), script, { mode: 0o755 });
  const machine = { home, platform: process.platform, env: {}, project: home };
  const ordered = CLIENTS.toSorted((one, other) => Number(other.name === FIRST) - Number(one.name === FIRST));
  for (const client of ordered.slice(0, clients)) {
    const place = client.places(machine).find(({ scope }) => scope === "user")!;
    const servers = Object.entries(SERVERS).map(([name, command]) => [name, entryOf(client, name, command)]);
    const edit = { at: place.at, remove: [], set: Object.fromEntries(servers) };
    const edits = [{ ...edit, ...(client.dialect.isList && { isList: true }) }];
    mkdirSync(dirname(place.path), { recursive: true });
    writeFileSync(place.path, await editConfig(place, "", edits));
  }
}

/** A server as people write it in the config of a client. */
function entryOf({ name: client }: Client, name: string, command: string): object {
  const args = name === "filesystem" ? ["."] : [];
  if (client === "opencode") return { type: "local", command: [command, ...args], enabled: true };
  if (client === "goose") return { type: "stdio", name, enabled: true, cmd: command, args };
  return { command, args };
}

async function printTable(): Promise<void> {
  const program = existsSync("dist/bin/keyhole.cjs") ? "dist/bin/keyhole.cjs" : "src/program/main.ts";
  console.log(
    "| clients | terminal | commands | answers | lines at each answer | seconds |\n|---|---|---|---|---|---|",
  );
  for (const clients of [1, 13])
    for (const [columns, rows] of [
      [80, 24],
      [120, 40],
    ] as const) {
      const home = mkdtempSync(join(tmpdir(), "keyhole-minute-"));
      try {
        const played = await playFirstMinute({ clients, columns, rows, program, home });
        const cells = [
          clients,
          `${columns}x${rows}`,
          played.commands,
          played.lines.length,
          played.lines.join(", "),
          played.seconds.toFixed(1),
        ];
        console.log(`| ${cells.join(" | ")} |`);
        if (process.argv.includes("--text")) console.log(played.text);
      } finally {
        rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
      }
    }
}

if (import.meta.main) await printTable();
