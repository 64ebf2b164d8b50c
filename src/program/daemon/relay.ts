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
  readonly result?: unknown;
  readonly error?: unknown;
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
export function relay(options: RelayOptions): Promise<void> {
  return new Relay(options).run();
}

class Relay {
  private readonly input: Readable;
  private readonly output: Writable;
  private readonly reach: RelayOptions["reach"];
  private readonly pending = new Map<RelayId, PendingRequest>();
  /** Questions of a daemon to the client. Each has a number of its own, so that no late answer fits another. */
  private readonly questions = new Map<RelayId, { readonly socket: Socket; readonly id: RelayId }>();
  private readonly replay = createHandshakeReplay();
  private readonly finished = Promise.withResolvers<void>();
  private socket: Socket | undefined;
  private connecting: Promise<void> | undefined;
  private asked = 0;
  private losses: number[] = [];
  private isOver = false;
  private readonly fromClient = createLineSplitter({
    bytes: MAX_LINE_BYTES,
    refuse: (outline) => this.refuse(outline),
  });

  constructor({ input, output, reach }: RelayOptions) {
    this.input = input;
    this.output = output;
    this.reach = reach;
  }

  async run(): Promise<void> {
    const finish = () => this.finish();
    this.input.on("data", (chunk: Buffer) => {
      for (const line of this.fromClient(chunk)) this.takeFromClient(line);
    });
    this.input.once("end", finish).once("close", finish);
    this.output.on("error", finish);
    await this.connectOnce();
    return this.finished.promise;
  }

  private finish(): void {
    this.isOver = true;
    if (!this.socket) return void this.finished.resolve();
    this.socket.end();
    const left = this.socket;
    setTimeout(() => left.destroy(), LEAVE_MS).unref();
  }

  private takeFromClient(line: Buffer): void {
    const message = parse(line);
    if (message?.id !== undefined && this.isAnswer(message))
      return void this.answerQuestion(message, message.id);
    if (message?.method !== undefined || message?.id !== undefined) this.note(message, line);
    // A request is among the pending ones, which are sent after the connection is made.
    if (this.socket) this.send(this.socket, line);
    else if (message?.id !== undefined) void this.connectOnce();
  }

  private refuse(outline: Buffer): void {
    const message = parse(outline);
    // A notification gets no answer. A message that cannot be read may be a request.
    const id = message ? message.id : null;
    if (id === undefined) return;
    const error = { code: INVALID_REQUEST, message: `The message is larger than ${MAX_LINE_BYTES} bytes.` };
    this.write(toLine({ jsonrpc: "2.0", id, error }));
  }

  /** A message with an id alone is a malformed request, which the daemon answers. */
  private isAnswer({ id, method, result, error }: Message): boolean {
    return method === undefined && (this.questions.has(id!) || result !== undefined || error !== undefined);
  }

  private note({ id, method, params }: Message, line: Buffer): void {
    if (method !== undefined) this.replay.note(method, id, line);
    if (id !== undefined) this.pending.set(id, { line, isCall: method === "tools/call" });
    else if (method === "notifications/cancelled" && params?.requestId !== undefined)
      this.pending.delete(params.requestId);
  }

  private answerQuestion(message: Message, id: RelayId): void {
    const question = this.questions.get(id);
    this.questions.delete(id);
    if (this.socket && question?.socket === this.socket)
      this.send(this.socket, toLine({ ...message, id: question.id }));
  }

  private takeFromDaemon(from: Socket, line: Buffer): void {
    // An answer, which may be large, is passed on before it is read.
    const message = line.includes('"method"') || this.replay.mayBeReplayed(line) ? parse(line) : undefined;
    if (message?.method !== undefined) return void this.write(this.renumbered(from, message) ?? line);
    if (this.replay.isReplayed(message?.id)) return;
    this.write(line);
    const { id } = message ?? parse(line) ?? {};
    if (id !== undefined) this.pending.delete(id);
  }

  /** A question of the daemon, or its end, with the question's number. */
  private renumbered(from: Socket, message: Message): Buffer | undefined {
    const { id, method, params } = message;
    if (id !== undefined) {
      this.asked += 1;
      this.questions.set(this.asked, { socket: from, id });
      return toLine({ ...message, id: this.asked });
    }
    if (method !== "notifications/cancelled") return undefined;
    const [requestId] =
      [...this.questions].find(([, one]) => one.socket === from && one.id === params?.requestId) ?? [];
    return requestId === undefined ? undefined : toLine({ ...message, params: { ...params, requestId } });
  }

  private connectOnce(): Promise<void> {
    this.connecting ??= this.connect()
      .catch((error: unknown) => {
        this.isOver = true;
        this.finished.reject(error);
      })
      .finally(() => {
        this.connecting = undefined;
      });
    return this.connecting;
  }

  private async connect(): Promise<void> {
    const next = await this.reach();
    if (this.isOver) return void next.destroy();
    let reason: ClosingReason | undefined;
    const split = createLineSplitter();
    const take = (line: Buffer) => {
      const text = line.length <= LONGEST_REASON ? line.toString().trimEnd() : "";
      if (text === "moved" || text === "stopped") reason = text;
      else this.takeFromDaemon(next, line);
    };
    next.on("data", (chunk: Buffer) => split(chunk).forEach(take));
    next.on("error", () => {});
    next.once("close", () => this.lost(reason));
    next.on("drain", () => this.input.resume());
    const waiting = [...this.pending].filter(([id]) => !this.replay.covers(id));
    this.socket = next;
    for (const line of [...this.replay.lines(this.pending), ...waiting.map(([, { line }]) => line)])
      this.send(next, line);
    next.resume();
  }

  private lost(reason: ClosingReason | undefined): void {
    this.socket = undefined;
    this.input.resume();
    if (this.isOver) return void this.finished.resolve();
    if (reason === undefined) this.answerCalls();
    // Nobody waits, so the next request starts a daemon that was stopped.
    if (reason === "stopped" && this.pending.size === 0) return;
    void this.connectOnce();
  }

  private answerCalls(): void {
    const now = performance.now();
    this.losses = [...this.losses.filter((at) => now - at < LOSSES_MS), now];
    const { code, message, next } = problem("DAEMON_LOST");
    for (const [id, { isCall }] of [...this.pending]) {
      if (!isCall) continue;
      this.pending.delete(id);
      const content = [{ type: "text", text: `${code}: ${message}\n${next}` }];
      this.write(toLine({ jsonrpc: "2.0", id, result: { content, isError: true } }));
    }
    if (this.losses.length < MOST_LOSSES) return;
    this.isOver = true;
    this.finished.reject(
      problem("DAEMON_FAILED", { reason: `it ended ${this.losses.length} times within a minute` }),
    );
  }

  private send(to: Socket, line: Buffer): void {
    if (!to.write(line)) this.input.pause();
  }

  private write(line: Buffer): void {
    const isFull = !this.output.write(line);
    const from = this.socket;
    if (!isFull || !from) return;
    from.pause();
    this.output.once("drain", () => from.resume());
  }
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
