// Time to the first visible token: from the server sending the first piece of its answer to the chat's screen
// showing it. The server speaks OpenAI's format on loopback.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { createOpenAI } from "@ai-sdk/openai";
import { createGateway } from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { Chat } from "../src/agent/tui/chat.ts";
import { showChat } from "../src/agent/tui/show-chat.ts";
import type { Benchmark } from "./benchmark.ts";
import { percentile } from "./percentile.ts";

const ROUNDS = 20;
const PAUSE_MS = 30;

export const benchmark: Benchmark = async () => {
  const sentAt: number[] = [];
  const server = createServer((request, response) => {
    request.resume().once("end", () => void answer(response, sentAt));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const model = createOpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "none" }).chat("bench");
  const gateway = createGateway({ domains: [] });
  const agent = createAgent({ gateway, model, mode: "fixed" });
  const session = await agent.openSession();
  const screen = openScreen();
  const chat = new Chat(
    {
      model: () => "bench",
      run: (prompt: string, { signal }: { signal: AbortSignal }) => run(agent, prompt, { session, signal }),
    } as unknown as ConstructorParameters<typeof Chat>[0],
    { isFile: async () => false, past: [] },
  );
  const closed = showChat(chat, { banner: "", files: [], ...screen.streams, onOpen: screen.onOpen });
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const shown = screen.shows(`token-${round}-`);
    void chat.submit(`go ${round}`);
    const at = await shown;
    // The first round loads the modules.
    if (round > 0) times.push(at - sentAt[round]!);
    await wait(5 * PAUSE_MS);
  }
  screen.close();
  await closed;
  await gateway.close();
  server.close();
  const row = (metric: string, value: number) => ({
    bench: "first-token",
    case: "chat",
    system: "keyhole",
    metric,
    value,
    unit: "ms",
  });
  return [row("shown_p50", percentile(times, 50)), row("shown_p95", percentile(times, 95))];
};

async function answer(response: ServerResponse, sentAt: number[]): Promise<void> {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "bench", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  await wait(PAUSE_MS);
  response.write(chunk({ role: "assistant", content: `token-${sentAt.length}- ` }));
  sentAt.push(performance.now());
  await wait(PAUSE_MS);
  response.end(`${chunk({ content: "and more." })}${chunk({}, "stop")}data: [DONE]\n\n`);
}

/** A terminal made of two streams. */
function openScreen() {
  const stdout = Object.assign(new PassThrough(), { columns: 80, rows: 30, isTTY: true });
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  });
  let wanted: { readonly text: string; resolve(at: number): void } | undefined;
  stdout.on("data", (chunk: Buffer) => {
    if (wanted && String(chunk).includes(wanted.text)) wanted.resolve(performance.now());
  });
  let close = () => {};
  return {
    streams: {
      stdin: stdin as unknown as NodeJS.ReadableStream,
      stdout: stdout as unknown as NodeJS.WritableStream,
    },
    onOpen: (leave: () => void) => {
      close = leave;
    },
    close: () => close(),
    shows: (text: string) => new Promise<number>((resolve) => (wanted = { text, resolve })),
  };
}
