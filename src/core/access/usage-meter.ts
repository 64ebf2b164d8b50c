import { setTimeout as sleep } from "node:timers/promises";
import { problem } from "../../base/problems/problem.ts";
import type { Storage } from "../../base/util/storage.ts";

/** The most per day, and at the same time. */
export interface UsageLimit {
  readonly calls?: number | undefined;
  readonly concurrent?: number | undefined;
  readonly tokens?: number | undefined;
}

export type ToolCounts = readonly [calls: number, failed: number, tokens: number];

/** The day of a person or server, shared by all gateways. */
export interface DayRecord {
  /** Calls reserved by gateways, made or not. */
  readonly taken: number;
  readonly tokens: number;
  /** Reserved concurrent calls of each gateway, until a time that the gateway keeps moving. */
  readonly slots: Readonly<Record<string, { readonly count: number; readonly until: number }>>;
  /** Calls, failed calls and tokens by `server op`. */
  readonly tools: Readonly<Record<string, ToolCounts>>;
}

const NO_DAY: DayRecord = { taken: 0, tokens: 0, slots: {}, tools: {} };
const DAY_MS = 86_400_000;
/** Slots of a gateway that has ended are free after this time. */
const SLOT_MS = 30_000;
const FLUSH_MS = 1_000;
/** How often a call looks for a slot of another gateway, and after which pause. */
const TRIES = 5;
const RETRY_MS = 300;
/** A gateway reserves one part in this many of the remaining calls: few requests, and enough for other gateways. */
const SHARE = 16;
/** An idle gateway keeps one part in this many of its slots. */
const IDLE_SHARE = 8;
const MOST_TOOLS = 2_000;
const OTHERS = " (others)";

interface MeterParts {
  readonly days: Storage<DayRecord>;
  readonly subject: string;
  /** The name in messages. */
  readonly name: string;
  readonly limit: UsageLimit;
  readonly gateway: string;
  now(): number;
  /** Called once for each day that the subject is active. */
  onDay?: ((day: string) => Promise<void>) | undefined;
}

/**
 * The limits of one person or server in this process. Calls and slots are reserved from the shared day in advance, so
 * most calls need no request. Tokens and counts are written within a second.
 */
export class UsageMeter {
  readonly #parts: MeterParts;
  #day = "";
  /** Reserved calls. */
  #calls = 0;
  /** Whether no calls of this day remain. */
  #isSpent = false;
  #running = 0;
  #waiting = 0;
  #slots = 0;
  /** Tokens of the day as last read, without `#unsent`. */
  #tokens = 0;
  #unsent = new Map<string, ToolCounts>();
  /** Whether a call has begun since the last exchange. */
  #isUsed = false;
  #syncing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: MeterParts) {
    this.#parts = parts;
  }

  get isIdle(): boolean {
    return this.#running + this.#waiting === 0 && this.#timer === undefined;
  }

  /** @throws LIMIT_REACHED */
  async enter(): Promise<void> {
    const { limit } = this.#parts;
    this.#waiting += 1;
    try {
      for (let tries = 1; !this.#mayEnter(); tries += 1) {
        await this.#sync();
        if (this.#mayEnter()) break;
        if (this.#isOver() || tries === TRIES) throw this.#refusal();
        await sleep(RETRY_MS);
      }
    } finally {
      this.#waiting -= 1;
    }
    this.#isUsed = true;
    this.#running += 1;
    if (limit.calls !== undefined) this.#calls -= 1;
  }

  /** `unused`: the call never began and does not count. */
  leave(unused = false): void {
    const { calls, concurrent } = this.#parts.limit;
    this.#running -= 1;
    if (unused && calls !== undefined) this.#calls += 1;
    const idle = this.#slots - this.#running;
    // After a failure the slots expire.
    if (concurrent !== undefined && idle > Math.floor(concurrent / IDLE_SHARE)) this.#sync().catch(() => {});
    else if (calls !== undefined || concurrent !== undefined) this.#later();
  }

  add(tool: string, counts: ToolCounts): void {
    const name = this.#unsent.has(tool) || this.#unsent.size < MOST_TOOLS ? tool : OTHERS;
    this.#unsent.set(name, addCounts(this.#unsent.get(name), counts));
    this.#later();
  }

  async flush(): Promise<void> {
    if (this.#unsent.size > 0) await this.#sync();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isUsed = false;
    if (this.#day !== "" || this.#unsent.size > 0) await this.#sync();
    clearTimeout(this.#timer);
  }

  #today(): string {
    return dayOf(this.#parts.now());
  }

  #isOverTokens(): boolean {
    const { tokens } = this.#parts.limit;
    const unsent = [...this.#unsent.values()].reduce((all, [, , more]) => all + more, 0);
    return tokens !== undefined && this.#tokens + unsent >= tokens;
  }

  #isOver(): boolean {
    return (
      this.#isOverTokens() || (this.#parts.limit.calls !== undefined && this.#calls <= 0 && this.#isSpent)
    );
  }

  #mayEnter(): boolean {
    const { calls, tokens, concurrent } = this.#parts.limit;
    const isDaily = calls !== undefined || tokens !== undefined;
    if ((isDaily && this.#day !== this.#today()) || this.#isOverTokens()) return false;
    if (calls !== undefined && this.#calls <= 0) return false;
    return concurrent === undefined || this.#running < this.#slots;
  }

  #refusal() {
    const { limit, name, now } = this.#parts;
    const midnight = `at ${dayOf(now() + DAY_MS)}T00:00Z`;
    const over = (text: string, free: string) => problem("LIMIT_REACHED", { name, limit: text, free });
    if (this.#isOverTokens()) return over(`${limit.tokens} tokens a day`, midnight);
    if (this.#isOver()) return over(`${limit.calls} calls a day`, midnight);
    return over(`${limit.concurrent} calls at the same time`, "as soon as one of them has ended");
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // Retry counts later if they cannot be written now.
      this.#sync().catch(() => this.#later());
    }, FLUSH_MS).unref();
  }

  /** Exchanges run one after the other. One exchange serves all callers that wait for it. */
  #sync(): Promise<void> {
    const run = async () => {
      if (this.#waiting === 0 || !this.#mayEnter()) await this.#exchange();
    };
    this.#syncing = this.#syncing.then(run, run);
    return this.#syncing;
  }

  /** Writes local counts, and reserves or returns calls and slots, in one change of the shared day. */
  async #exchange(): Promise<void> {
    const { days, subject, limit } = this.#parts;
    const day = this.#today();
    if (day !== this.#day) {
      await days.put(day, subject, NO_DAY);
      await this.#parts.onDay?.(day);
      [this.#day, this.#calls, this.#tokens, this.#isSpent] = [day, 0, 0, false];
    }
    const sent = this.#unsent;
    this.#unsent = new Map();
    const asked = this.#asked();
    let granted: Granted = { calls: 0, slots: 0, isSpent: false };
    try {
      const after = await days.update(day, subject, (record) => {
        const next = exchange(record, limit, asked);
        granted = next.granted;
        return addTools(next.record, sent);
      });
      this.#tokens = after?.tokens ?? 0;
    } catch (error) {
      for (const [tool, counts] of sent) this.#unsent.set(tool, addCounts(this.#unsent.get(tool), counts));
      throw error;
    }
    this.#calls += granted.calls;
    this.#slots = granted.slots;
    this.#isSpent = granted.isSpent;
    this.#isUsed = false;
    if (this.#calls > 0 || this.#slots > 0) this.#later();
  }

  #asked(): Asked {
    const { gateway, now, limit } = this.#parts;
    const lacks = limit.calls === undefined ? 0 : this.#waiting - this.#calls;
    const isIdle = !this.#isUsed && this.#running + this.#waiting === 0;
    return {
      gateway,
      now: now(),
      slots: limit.concurrent === undefined ? 0 : this.#running + this.#waiting,
      calls: lacks > 0 ? lacks : isIdle ? -this.#calls : 0,
    };
  }
}

interface Asked {
  readonly gateway: string;
  readonly now: number;
  /** Calls that run or wait here. */
  readonly slots: number;
  /** Calls needed, or returned if negative. */
  readonly calls: number;
}

interface Granted {
  readonly calls: number;
  readonly slots: number;
  readonly isSpent: boolean;
}

/** The next record of a day, and what the gateway gets from it. */
function exchange(record: DayRecord, limit: UsageLimit, asked: Asked) {
  const others = Object.entries(record.slots).filter(
    ([gateway, { until }]) => gateway !== asked.gateway && until > asked.now,
  );
  const used = others.reduce((all, [, { count }]) => all + count, 0);
  const slots = Math.min(asked.slots, Math.max(0, (limit.concurrent ?? 0) - used));
  const available = Math.max(0, (limit.calls ?? 0) - record.taken);
  const calls =
    asked.calls > 0 ? Math.min(available, Math.max(asked.calls, Math.ceil(available / SHARE))) : asked.calls;
  const reserved = slots > 0 ? [[asked.gateway, { count: slots, until: asked.now + SLOT_MS }] as const] : [];
  const granted: Granted = { calls, slots, isSpent: available - calls <= 0 };
  const next = {
    ...record,
    taken: record.taken + calls,
    slots: Object.fromEntries([...others, ...reserved]),
  };
  return { granted, record: next };
}

function addTools(record: DayRecord, sent: ReadonlyMap<string, ToolCounts>): DayRecord {
  const tools = new Map(Object.entries(record.tools));
  let { tokens } = record;
  for (const [tool, counts] of sent) {
    const name = tools.has(tool) || tools.size < MOST_TOOLS ? tool : OTHERS;
    tools.set(name, addCounts(tools.get(name), counts));
    tokens += counts[2];
  }
  return { ...record, tokens, tools: Object.fromEntries(tools) };
}

export function addCounts([calls, failed, tokens]: ToolCounts = [0, 0, 0], more: ToolCounts): ToolCounts {
  return [calls + more[0], failed + more[1], tokens + more[2]];
}

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
