import type { Gateway } from "../../gateway-api.ts";
import { coreOf, type FinishedCall } from "../../gateway-core.ts";
import type { Principal } from "../../schema/principal.ts";
import { countMenu } from "../../surfaces/count-menu.ts";
import { type NoticeEvent, onNotice, type SourceEvent } from "../../telemetry/events.ts";
import { loadTokenCounter } from "../../util/tokens.ts";
import type { Notice, Topic } from "./answers.ts";
import { type CallSeries, createCallSeries } from "./call-series.ts";
import { type Conversations, createConversations } from "./conversations.ts";

export interface News {
  readonly topic: Topic;
  /** The caller that it is about; the others need not know. */
  readonly principal?: string;
}

/** Calls of one operation that ended in one way. */
export interface CallCount {
  readonly operation: string;
  readonly outcome: string;
  readonly calls: number;
  readonly seconds: number;
}

/** Remembers what the gateway does, for the people who run it: bounded, in memory, gone with the process. */
export interface Recorder {
  readonly startedAt: number;
  readonly series: CallSeries;
  readonly conversations: Conversations;
  counts(): readonly CallCount[];
  /** Newest first. */
  notices(): readonly Notice[];
  tell(news: News): void;
  /** Returns unsubscribe. */
  onNews(listener: (news: News) => void): () => void;
  close(): void;
}

const MOST_NOTICES = 50;
/** More combinations than operations and problems make. */
const MOST_COUNTS = 500;

export function createRecorder(gateway: Gateway): Recorder {
  const core = coreOf(gateway);
  const series = createCallSeries();
  const conversations = createConversations();
  const counts = new Map<string, CallCount>();
  const listeners = new Set<(news: News) => void>();
  let notices: readonly Notice[] = [];

  function tell(news: News): void {
    for (const listener of listeners) listener(news);
  }

  function count({ operation, outcome, latencyMs }: FinishedCall): void {
    const key = `${operation} ${outcome}`;
    const { calls, seconds } = counts.get(key) ?? { calls: 0, seconds: 0 };
    if (!counts.has(key) && counts.size >= MOST_COUNTS) return;
    counts.set(key, { operation, outcome, calls: calls + 1, seconds: seconds + latencyMs / 1000 });
  }

  /** The same list with every tool in it is counted once for each view. */
  async function noteMenu(tools: readonly object[], principal: Principal): Promise<void> {
    const at = core.clock.now();
    const [countTokens, { everything }] = await Promise.all([
      loadTokenCounter(),
      gateway.ledger({ principal }),
    ]);
    series.add(at, { menus: await countMenu(tools, countTokens), everything });
    tell({ topic: "calls", principal: principal.id });
  }

  function hear(event: NoticeEvent | SourceEvent): void {
    if (event.type === "source") {
      tell({ topic: "sources" });
      if (event.state !== "failed") return;
    }
    const what = event.type === "source" ? `source ${event.source}` : event.notice;
    notices = [{ at: core.clock.now(), what, detail: event.detail ?? "" }, ...notices].slice(0, MOST_NOTICES);
    tell({ topic: "notices" });
  }

  const stops = [
    core.observe({
      called: (call) => {
        series.add(call.startedAt, {
          calls: 1,
          failed: call.outcome === "ok" ? 0 : 1,
          answers: call.tokens,
        });
        conversations.note(call);
        count(call);
        tell({ topic: "calls", principal: call.principal.id });
      },
      listed: (tools, principal) => void noteMenu(tools, principal).catch(() => {}),
    }),
    gateway.onChange(() => tell({ topic: "catalog" })),
    gateway.pins.onChange(async () => tell({ topic: "approvals" })),
    onNotice(hear),
  ];
  return {
    startedAt: core.clock.now(),
    series,
    conversations,
    counts: () => [...counts.values()],
    notices: () => notices,
    tell,
    onNews: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      for (const stop of stops) stop();
      listeners.clear();
    },
  };
}
