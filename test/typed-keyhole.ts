// Stands for `keyhole` where a test types the commands of a page: it runs the program as a person would. A question
// that needs a person is answered with yes, in the way that works without a terminal, after the command has listed
// what it asks about. A command that runs until somebody stops it is stopped once it runs.
import { spawn } from "node:child_process";
import { resolve } from "node:path";

/** How long a command has to fail before it counts as running. */
const RUNNING_MS = 1_500;
const MAIN = resolve(import.meta.dirname, "../src/program/main.ts");

const words = process.argv.slice(2);
let ended = await run(words);
const answered = new Set<string>();
while (ended.asked.includes("PERSON_NEEDED")) {
  const hash = /\bHash: ([0-9a-f]{16})\b/.exec(ended.listed)?.[1];
  const answer = hash === undefined ? ["--yes"] : ["--hash", hash];
  if (answered.has(answer.join())) break;
  answered.add(answer.join());
  ended = await run([...words, ...answer]);
  // In a terminal one command asks both questions: whether a server may start, then about its tools.
  if (words[0] === "approve" && ended.code === 0) ended = await run(words);
}
process.exit(ended.asked.includes("PERSON_NEEDED") ? 0 : ended.code);

interface Ended {
  readonly code: number;
  readonly listed: string;
  readonly asked: string;
}

async function run(args: readonly string[]): Promise<Ended> {
  const isServing = args[0] === "serve" && !args.includes("--stop") && !args.includes("--help");
  const runsOn = isServing || args.includes("--follow");
  const stdio = [isServing ? "pipe" : "inherit", "pipe", "pipe"] as const;
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: [...stdio] });
  const texts = { listed: "", asked: "" };
  child.stdout?.on("data", (chunk) => {
    texts.listed += chunk;
    process.stdout.write(chunk);
  });
  child.stderr?.on("data", (chunk) => {
    texts.asked += chunk;
    process.stderr.write(chunk);
  });
  let isStopped = false;
  const timer = setTimeout(() => {
    isStopped = runsOn && child.kill("SIGTERM");
  }, RUNNING_MS);
  const code = await new Promise<number>((done) => child.on("close", (status) => done(status ?? 1)));
  clearTimeout(timer);
  return { code: isStopped ? 0 : code, ...texts };
}
