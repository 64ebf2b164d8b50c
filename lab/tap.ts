// node lab/tap.ts LOG COMMAND ARGS…: runs an MCP server and records every message between it and its client.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [log = "", command = "", ...args] = process.argv.slice(2);
const note = (record: object) => appendFileSync(log, `${JSON.stringify({ at: Date.now(), ...record })}\n`);

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
note({ event: "start", variables: Object.keys(process.env).sort() });
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    note({ event: signal });
    child.kill(signal);
  });
}

pass("client", process.stdin, child.stdin);
pass("server", child.stdout, process.stdout);
child.stdin.on("error", () => {});
process.stdout.on("error", () => child.stdin.end());
process.stdin.on("end", () => child.stdin.end());
child.on("exit", (code, signal) => {
  note({ event: "exit", code, signal });
  process.exit(code ?? 1);
});

/** Bytes are passed on as they come; only the record is made of lines. */
function pass(from: "client" | "server", input: NodeJS.ReadableStream, output: NodeJS.WritableStream): void {
  input.pipe(output, { end: false });
  createInterface({ input }).on("line", (line) => note({ from, ...parsed(line) }));
}

function parsed(line: string): object {
  try {
    return { message: JSON.parse(line) };
  } catch {
    return { text: line };
  }
}
