import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { problem } from "../../base/problems/problem.ts";
import type { ClosingReason } from "./handshake.ts";
import { createLineSplitter, toLine } from "./lines.ts";

export interface RelayOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Connects to the daemon, and starts one if needed. Rejects if that fails. */
  reach(): Promise<Socket>;
}

type RelayId = string | number;
interface Message {
  readonly id?: RelayId;
  readonly method?: string;
  readonly params?: { readonly requestId?: RelayId };
}

/** A request of the client that is not answered yet. */
interface PendingRequest {
  readonly line: Buffer;
  /** Running it twice could have an effect twice. */
  readonly isCall: boolean;
}

/** A daemon that keeps ending is not started for ever. */
const MOST_LOSSES = 5;
const LOSSES_MS = 60_000;
/** How long a daemon may take to see that its client has left. */
const LEAVE_MS = 2_000;
/** The daemon closes the connection over a longer line, with all calls on it. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;
const INVALID_REQUEST = -32_600;
const LONGEST_REASON = "stopped\n".length;

/**
 * Carries messages between a client and the daemon, until the client leaves. If the daemon ends, the relay opens the
 * session again with the next one: calls that ran are answered with a problem, all other requests are sent again.
 * Rejects if no daemon can be reached.
 */
export async function relay({ input, output, reach }: RelayOptions): Promise<void> {
  const pending = new Map<RelayId, PendingRequest>();
  /** Questions of a daemon to the client. Each has a number of its own, so that no late answer fits another. */
  const questions = new Map<RelayId, { readonly socket: Socket; readonly id: RelayId }>();
  const replay = createHandshakeReplay();
  const finished = Promise.withResolvers<void>();
  let socket: Socket | undefined;
  let connecting: Promise<void> | undefined;
  let asked = 0;
  let losses: number[] = [];
  let isOver = false;

  const fromClient = createLineSplitter({ bytes: MAX_LINE_BYTES, refuse });
  input.on("data", (chunk: Buffer) => fromClient(chunk).forEach(takeFromClient));
  input.once("end", finish).once("close", finish);
  output.on("error", finish);

  function finish(): void {
    isOver = true;
    if (!socket) return void finished.resolve();
    socket.end();
    const left = socket;
    setTimeout(() => left.destroy(), LEAVE_MS).unref();
  }

  function takeFromClient(line: Buffer): void {
    const message = parse(line);
    if (message?.method === undefined && message?.id !== undefined)
      return void answerQuestion(message, message.id);
    if (message?.method !== undefined) note(message, line);
    // A request is among the pending ones, which are sent after the connection is made.
    if (socket) send(socket, line);
    else if (message?.id !== undefined) void connectOnce();
  }

  function refuse(outline: Buffer): void {
    const message = parse(outline);
    // A notification gets no answer. A message that cannot be read may be a request.
    const id = message ? message.id : null;
    if (id === undefined) return;
    const error = { code: INVALID_REQUEST, message: `The message is larger than ${MAX_LINE_BYTES} bytes.` };
    write(toLine({ jsonrpc: "2.0", id, error }));
  }

  function note({ id, method, params }: Message, line: Buffer): void {
    replay.note(method!, id, line);
    if (id !== undefined) pending.set(id, { line, isCall: method === "tools/call" });
    else if (method === "notifications/cancelled" && params?.requestId !== undefined)
      pending.delete(params.requestId);
  }

  function answerQuestion(message: Message, id: RelayId): void {
    const question = questions.get(id);
    questions.delete(id);
    if (socket && question?.socket === socket) send(socket, toLine({ ...message, id: question.id }));
  }

  function takeFromDaemon(from: Socket, line: Buffer): void {
    // An answer, which may be large, is passed on before it is read.
    const message = line.includes('"method"') || replay.mayBeReplayed(line) ? parse(line) : undefined;
    if (message?.method !== undefined) return void write(renumbered(from, message) ?? line);
    if (replay.isReplayed(message?.id)) return;
    write(line);
    const { id } = message ?? parse(line) ?? {};
    if (id !== undefined) pending.delete(id);
  }

  /** A question of the daemon, or its end, with the question's number. */
  function renumbered(from: Socket, message: Message): Buffer | undefined {
    const { id, method, params } = message;
    if (id !== undefined) {
      asked += 1;
      questions.set(asked, { socket: from, id });
      return toLine({ ...message, id: asked });
    }
    if (method !== "notifications/cancelled") return undefined;
    const [requestId] =
      [...questions].find(([, one]) => one.socket === from && one.id === params?.requestId) ?? [];
    return requestId === undefined ? undefined : toLine({ ...message, params: { ...params, requestId } });
  }

  function connectOnce(): Promise<void> {
    connecting ??= connect()
      .catch((error: unknown) => {
        isOver = true;
        finished.reject(error);
      })
      .finally(() => {
        connecting = undefined;
      });
    return connecting;
  }

  async function connect(): Promise<void> {
    const next = await reach();
    if (isOver) return void next.destroy();
    let reason: ClosingReason | undefined;
    const split = createLineSplitter();
    const take = (line: Buffer) => {
      const text = line.length <= LONGEST_REASON ? line.toString().trimEnd() : "";
      if (text === "moved" || text === "stopped") reason = text;
      else takeFromDaemon(next, line);
    };
    next.on("data", (chunk: Buffer) => split(chunk).forEach(take));
    next.on("error", () => {});
    next.once("close", () => lost(reason));
    next.on("drain", () => input.resume());
    const waiting = [...pending].filter(([id]) => !replay.covers(id));
    socket = next;
    for (const line of [...replay.lines(pending), ...waiting.map(([, { line }]) => line)]) send(next, line);
    next.resume();
  }

  function lost(reason: ClosingReason | undefined): void {
    socket = undefined;
    input.resume();
    if (isOver) return void finished.resolve();
    if (reason === undefined) answerCalls();
    // Nobody waits, so the next request starts a daemon that was stopped.
    if (reason === "stopped" && pending.size === 0) return;
    void connectOnce();
  }

  function answerCalls(): void {
    const now = performance.now();
    losses = [...losses.filter((at) => now - at < LOSSES_MS), now];
    const { code, message, next } = problem("DAEMON_LOST");
    for (const [id, { isCall }] of [...pending]) {
      if (!isCall) continue;
      pending.delete(id);
      const content = [{ type: "text", text: `${code}: ${message}\n${next}` }];
      write(toLine({ jsonrpc: "2.0", id, result: { content, isError: true } }));
    }
    if (losses.length < MOST_LOSSES) return;
    isOver = true;
    finished.reject(problem("DAEMON_FAILED", { reason: `it ended ${losses.length} times within a minute` }));
  }

  function send(to: Socket, line: Buffer): void {
    if (!to.write(line)) input.pause();
  }

  function write(line: Buffer): void {
    const isFull = !output.write(line);
    const from = socket;
    if (!isFull || !from) return;
    from.pause();
    output.once("drain", () => from.resume());
  }

  await connectOnce();
  return finished.promise;
}

function parse(line: Buffer): Message | undefined {
  try {
    const value: unknown = JSON.parse(line.toString());
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** No client uses ids like these. */
const PREFIX = "keyhole-relay-";

/** The messages that open a session of the older protocol, to send them to the next daemon too. */
function createHandshakeReplay() {
  /** By what it sets: a later message of the same key takes the place of the earlier one. */
  const messages = new Map<string, { readonly id: RelayId | undefined; readonly line: Buffer }>();
  const replayed = new Set<RelayId>();
  let count = 0;

  return {
    note: (method: string, id: RelayId | undefined, line: Buffer) => {
      const key = keyOf(method, line);
      if (key === undefined) return;
      if (method === "resources/unsubscribe") messages.delete(key);
      else messages.set(key, { id, line });
    },
    /** The messages for a new daemon. Requests that the client waits for keep their ids; all others get new ones. */
    lines: (pending: ReadonlyMap<RelayId, unknown>) =>
      [...messages.values()].map(({ id, line }) => {
        if (id === undefined || pending.has(id)) return line;
        count += 1;
        replayed.add(`${PREFIX}${count}`);
        return toLine({ ...JSON.parse(line.toString()), id: `${PREFIX}${count}` });
      }),
    /** Whether a pending request is among these messages. */
    covers: (id: RelayId) => [...messages.values()].some((message) => message.id === id),
    /** Whether an answer is to a message that only the relay has sent. */
    isReplayed: (id: RelayId | undefined) => id !== undefined && replayed.delete(id),
    /** Whether a line may be such an answer. */
    mayBeReplayed: (line: Buffer) => line.includes(PREFIX),
  };
}

function keyOf(method: string, line: Buffer): string | undefined {
  switch (method) {
    case "initialize":
    case "notifications/initialized":
    case "logging/setLevel":
      return method;
    case "resources/subscribe":
    case "resources/unsubscribe":
      return `resource ${JSON.parse(line.toString()).params?.uri}`;
    default:
      return undefined;
  }
}
