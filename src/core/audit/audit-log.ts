import { type Clock, systemClock } from "../../base/util/clock.ts";
import { checkAfter } from "../../base/util/single-flight.ts";
import {
  type AuditChain,
  type AuditEvent,
  type AuditHead,
  type AuditStore,
  EMPTY,
  type TimedEvent,
  toAuditLines,
} from "./audit-store.ts";

/** Stores chains: in a folder of files, or in a `Storage`. */
export interface AuditDriver {
  /** Takes over a chain that no process writes, or begins one. */
  open(): Promise<ChainWriter>;
  chains(): Promise<readonly AuditChain[]>;
}

/** A chain that this process writes. After a failure it is closed, and another is opened. */
export interface ChainWriter {
  /** The last record, which the next one follows. */
  readonly head: AuditHead;
  /** The oldest record that is kept. */
  readonly keptFrom: number;
  /** Gaps at the end of the chain, which the next record admits. */
  readonly gaps?: Pick<AuditEvent & { kind: "log-opened" }, "torn" | "headless">;
  /** Begins the next part if the current one is full, and drops the oldest. True if it did. */
  turn(): boolean;
  /** Adds lines, all or none. False if the chain is gone, or another process took it. */
  append(lines: readonly string[], head: AuditHead): Promise<boolean>;
  /** Resolves when the lines are as durable as the driver promises. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const MAX_WAITING = 10_000;
/** Events per write. */
const CHUNK = 256;
/** How long the end of a call may wait for a write. */
const WRITE_MS = 20;
const TRY_AGAIN_MS = 1_000;

/**
 * The audit log in the chains of a driver. Each process writes its own chain, so none waits for another, and may
 * continue a chain that no process writes any more.
 */
export class AuditLog implements AuditStore {
  /** Callers that wait at the same time share one write. */
  readonly flush = checkAfter(() => this.write());
  private readonly driver: AuditDriver;
  private readonly clock: Clock;
  private waiting: TimedEvent[] = [];
  private dropped = 0;
  private writer: ChainWriter | undefined;
  private head = EMPTY;
  private isOpening = true;
  /** Events of a write that may have failed, and the head after it. */
  private doubtful: { readonly hash: string; readonly events: readonly TimedEvent[] } | undefined;
  private stopTimer: (() => void) | undefined;
  private isClosed = false;

  constructor(driver: AuditDriver, clock: Clock = systemClock) {
    this.driver = driver;
    this.clock = clock;
  }

  add(event: AuditEvent): void {
    this.waiting.push({ event, at: this.clock.now() });
    if (this.waiting.length > MAX_WAITING) {
      this.waiting.shift();
      this.dropped += 1;
    }
    this.later(WRITE_MS);
  }

  chains(): Promise<readonly AuditChain[]> {
    return this.driver.chains();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    try {
      await this.flush();
    } finally {
      await this.letGo();
    }
  }

  private async write(): Promise<void> {
    this.stopTimer?.();
    this.stopTimer = undefined;
    try {
      while (this.doubtful || this.waiting.length > 0) await this.writeChunk();
      await this.writer?.sync();
    } catch (error) {
      this.later(TRY_AGAIN_MS);
      await this.letGo().catch(() => {});
      throw error;
    }
  }

  private async writeChunk(): Promise<void> {
    const writer = await this.open();
    const events = this.waiting.slice(0, CHUNK);
    const [first] = events;
    if (!first) return;
    const { dropped } = this;
    const isDue = writer.turn() || this.isOpening || dropped > 0;
    const opening: AuditEvent = {
      kind: "log-opened",
      pid: process.pid,
      keptFrom: writer.keptFrom,
      ...(this.isOpening && writer.gaps),
      ...(dropped > 0 && { dropped }),
    };
    const { texts, head } = toAuditLines(
      this.head,
      isDue ? [{ event: opening, at: first.at }, ...events] : events,
    );
    this.waiting = this.waiting.slice(events.length);
    this.doubtful = { hash: head.hash, events };
    if (!(await writer.append(texts, head))) return this.letGo();
    this.doubtful = undefined;
    this.head = head;
    this.isOpening = false;
    this.dropped -= dropped;
  }

  /** Opens a chain. It may already hold the events of a write that seemed to fail. */
  private async open(): Promise<ChainWriter> {
    if (this.writer) return this.writer;
    this.writer = await this.driver.open();
    this.head = this.writer.head;
    this.isOpening = true;
    const { doubtful } = this;
    this.doubtful = undefined;
    if (doubtful && doubtful.hash !== this.head.hash) this.waiting = [...doubtful.events, ...this.waiting];
    return this.writer;
  }

  private async letGo(): Promise<void> {
    const { writer } = this;
    this.writer = undefined;
    await writer?.close();
  }

  private later(ms: number): void {
    if (this.isClosed) return;
    // The next flush reports the failure; the events wait.
    this.stopTimer ??= this.clock.after(ms, () => {
      this.stopTimer = undefined;
      void this.flush().catch(() => {});
    });
  }
}
