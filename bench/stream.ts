// A streamed answer of 5,000 tokens in the chat: the time of the processor, and the bytes that the terminal gets.
// Cases by size of the window. `keyhole chat` runs as a program in a terminal; here its screen writes to a stream.
import { PassThrough } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type { AgentEvent } from "../src/agent/loop/agent-event.ts";
import type { Benchmark, Row } from "./benchmark.ts";

const TOKENS = 5_000;
/** Pieces arrive as from a fast provider: 250 a second. */
const PIECES_AT_ONCE = 5;
const PAUSE_MS = 20;
const SIZES = [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
] as const;

export const benchmark: Benchmark = async () => {
  // The built program has the production build of React. The first import of React chooses the build.
  process.env.NODE_ENV = "production";
  const rows: Row[] = [];
  for (const size of SIZES) {
    const { cpuSeconds, written, sent } = await stream(size);
    const row = (metric: string, value: number, unit: string): Row => ({
      bench: "stream",
      case: `${TOKENS}-tokens-${size.columns}x${size.rows}`,
      system: "keyhole",
      metric,
      value,
      unit,
    });
    rows.push(
      row("cpu", cpuSeconds, "s"),
      row("written", written / 1000, "KB"),
      row("answer", sent / 1000, "KB"),
    );
  }
  return rows;
};

async function stream(size: (typeof SIZES)[number]) {
  let written = 0;
  const stdout = Object.assign(new PassThrough(), { ...size, isTTY: true });
  stdout.on("data", (chunk: Buffer) => {
    written += chunk.length;
  });
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref() {},
    unref() {},
  });
  const pieces = toPieces();
  const status = { mode: "ask", model: "bench", tokens: 0, window: 0 };
  const { Chat } = await import("../src/agent/tui/chat.ts");
  const { showChat } = await import("../src/agent/tui/show-chat.ts");
  const chat = new Chat(
    {
      status: () => status,
      commands: () => [],
      run: () => speak(pieces),
    } as unknown as ConstructorParameters<typeof Chat>[0],
    { isFile: async () => false },
  );
  let close = () => {};
  const closed = showChat(chat, { banner: "", files: [], stdin, stdout, onOpen: (end) => (close = end) });
  await wait(200);
  written = 0;
  const before = process.cpuUsage();
  await chat.submit("go");
  await wait(200);
  const { user, system } = process.cpuUsage(before);
  const result = { cpuSeconds: (user + system) / 1e6, written, sent: pieces.join("").length };
  close();
  await closed;
  return result;
}

async function* speak(pieces: readonly string[]): AsyncGenerator<AgentEvent> {
  const span = { traceId: "t", spanId: "s" };
  yield { type: "llm-start", step: 1, model: "bench", span };
  for (const [index, text] of pieces.entries()) {
    if (index % PIECES_AT_ONCE === 0) await wait(PAUSE_MS);
    yield { type: "llm-text", step: 1, text, span };
  }
  const usage = { input: 0, output: TOKENS, cached: 0 };
  yield { type: "llm-end", step: 1, text: pieces.join(""), usage, finish: "stop", span };
  yield { type: "agent-end", outcome: "answered", text: "", usage, steps: 1, span };
}

/** Markdown as models write it: paragraphs, lists and code. */
function toPieces(): string[] {
  const words = "the agent reads each file of the project and changes only what the test asks for".split(" ");
  return Array.from({ length: TOKENS }, (_, index) => {
    const at = index % 250;
    const word = words[index % words.length]!;
    if (at === 0) return "\n\n## Part\n\n";
    if (at === 120) return "\n\n- item ";
    if (at > 120 && at < 180 && at % 12 === 0) return "\n- item ";
    if (at === 180) return "\n\n```ts\n";
    if (at > 180 && at < 230 && at % 10 === 0) return ";\n";
    if (at === 230) return "\n```\n\n";
    return `${word} `;
  });
}
