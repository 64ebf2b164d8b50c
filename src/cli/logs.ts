import { open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { problem } from "../schema/problem.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { daemonPlace } from "./daemon-place.ts";
import { readWordsAndArgs } from "./read-args.ts";

const USAGE = `Usage: keyhole logs [SERVER] [-n NUMBER] [--follow]

Shows the newest lines of the log of the daemon that serves your clients: servers that start, fail and restart, and
calls that fail. With SERVER, only lines that name it. A level of more detail: LOG_LEVEL=debug, or logging.level in the
config. keyhole audit shows who called what.

  -n, --number NUMBER  how many lines (default: 50)
  -f, --follow         go on with new lines as they come
  -h, --help`;

const DEFAULT_LINES = 50;
const MAX_BYTES = 4 * 1024 * 1024;
const FOLLOW_MS = 500;

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readWordsAndArgs("logs", args, {
    number: { type: "string", short: "n" },
    follow: { type: "boolean", short: "f", default: false },
  });
  if (values.help) return console.log(USAGE);
  const count = values.number === undefined ? DEFAULT_LINES : Number(values.number);
  if (!Number.isInteger(count) || count < 0) throw invalid("-n needs a number");
  if (positionals.length > 1) throw invalid("too many arguments");
  const path = daemonPlace().log;
  const [server] = positionals;
  const isWanted = (line: string) => line !== "" && (server === undefined || line.includes(server));
  const { lines, end } = await readFrom(path, 0);
  const newest = count === 0 ? [] : lines.filter(isWanted).slice(-count);
  for (const line of newest) console.log(toVisibleLine(line));
  if (newest.length === 0 && !values.follow)
    console.log(`No lines in ${path}. A client that starts Keyhole makes some.`);
  process.stdout.on("error", () => process.exit(0));
  for (let from = end; values.follow; ) {
    await sleep(FOLLOW_MS);
    const more = await readFrom(path, from);
    from = more.end;
    for (const line of more.lines.filter(isWanted)) console.log(toVisibleLine(line));
  }
}

/** Whole lines from a place on, at most the last megabytes. A file that began anew is read from its start. */
async function readFrom(path: string, from: number): Promise<{ lines: string[]; end: number }> {
  const size = await stat(path).then(
    (facts) => facts.size,
    () => 0,
  );
  const start = Math.max(size < from ? 0 : from, size - MAX_BYTES);
  if (size === start) return { lines: [], end: size };
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - start), position: start });
    const text = buffer.toString("utf8", 0, bytesRead);
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    return { lines: whole.split("\n"), end: start + Buffer.byteLength(whole) };
  } finally {
    await file.close();
  }
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "logs", reason });
}
