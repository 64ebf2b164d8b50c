import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { hideSecrets } from "../../../base/safety/known-secrets.ts";
import { replaceSecrets } from "../../../base/safety/secret-patterns.ts";
import { loadTokenCounter } from "../../../base/tokens/tokens.ts";
import { contentHash } from "../../../base/util/content-hash.ts";
import { cutText } from "../../../base/util/cut-text.ts";
import { memoizeByObject } from "../../../base/util/memoize-by-object.ts";
import { revoked } from "../../../core/access/grants.ts";
import type { Entry } from "../../../core/nouns/entry.ts";
import type { Principal } from "../../../core/nouns/principal.ts";
import {
  createMemoryRecords,
  openRecords,
  type RecordStorage,
  type Records,
} from "../../../core/storage/records.ts";
import { countMenu } from "../../../core/surfaces/menu.ts";
import { isOfferedTool } from "../../../core/surfaces/native-tools.ts";
import { type NoticeEvent, onNotice, type SourceEvent } from "../../../core/telemetry/events.ts";
import { type FinishedCall, faceApiOf } from "../../../gateway/face-api.ts";
import type { Gateway } from "../../../gateway/gateway-api.ts";
import { type ListingWay, listedTokens, type ToolTokens, toolTokens } from "../../../gateway/tool-tokens.ts";
import type { Conversation, ConversationStep, LiveTopic, Minute, Notice } from "./api-types.ts";

export interface News {
  readonly topic: LiveTopic;
  /** The caller that it is about. Other callers are not told. */
  readonly principal?: string;
}

/** Calls of one operation that ended in one way. */
interface CallCount {
  readonly operation: string;
  readonly outcome: string;
  readonly calls: number;
  readonly seconds: number;
}

/** Operations whose answers a client with a list of everything would not need. */
const DISCOVERY: readonly string[] = ["ask", "help"];
const MOST_NOTICES = 50;
/** More combinations than operations and problems make. */
const MOST_COUNTS = 500;

export type CallRecorder = ReturnType<typeof createRecorder>;

export interface RecorderOptions {
  readonly storage?: RecordStorage;
  /** How a client of this name would list tools by itself. Undefined if nobody knows: then whole. */
  readonly wayOf?: ((client: string) => Promise<ListingWay | undefined>) | undefined;
}

interface ListedMenu {
  readonly at: number;
  readonly tools: readonly object[];
  readonly principal: Principal;
  readonly client: string;
  /** The gateway that showed it. */
  readonly of: Gateway;
}

/** A start with many clients is not held up by counting their menus. */
const COUNT_MS = 1_000;
/** A server that starts for longer is left out of the list that a client would show by itself. */
const STARTING_MS = 60_000;

/** Remembers what the gateway does, for the people who run it: bounded, in memory but for the sums of days. */
export function createRecorder(
  gateway: Gateway,
  { storage = createMemoryRecords(), wayOf }: RecorderOptions = {},
) {
  const core = faceApiOf(gateway);
  const series = createCallSeries(storage, () => core.clock.now());
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

  let menus: ListedMenu[] = [];
  let counting: NodeJS.Timeout | undefined;

  function countSoon(): void {
    counting ??= setTimeout(() => void countMenus().catch(() => {}), COUNT_MS).unref();
  }

  /** Counts the menus that were shown since the last time. Clients would also list the tools of starting servers. */
  async function countMenus(): Promise<void> {
    clearTimeout(counting);
    counting = undefined;
    const shown = menus;
    menus = [];
    for (const one of shown) {
      const { at, tools, principal, client, of } = one;
      const { shown: entries, starting } = await of.view({ principal });
      if (starting.size > 0 && core.clock.now() - at < STARTING_MS) {
        menus.push(one);
        countSoon();
        continue;
      }
      const { everything } = (await of.report({ principal })).ledger;
      const way = (await wayOf?.(client)) ?? { shows: "definitions" };
      const alone = way.shows === "definitions" ? everything : listedTokens(await sizesOf(entries), way);
      const menu = { listings: 1, menus: await countMenu(tools), everything, alone };
      series.add(at, menu);
      series.addUse(at, "client", client, menu);
      tell({ topic: "calls", principal: principal.id });
    }
  }

  function noteEvent(event: NoticeEvent | SourceEvent): void {
    if ((event.gateway ?? gateway.name) !== gateway.name) return;
    if (event.type === "source") tell({ topic: "sources" });
    // The event of the source says the same, and the page of approvals what waits.
    const isSaid = event.type === "notice" && ["source-refused", "approval-needed"].includes(event.notice);
    if (isSaid || (event.type === "source" && event.state !== "failed")) return;
    const { detail = "" } = event;
    const what = event.type === "source" ? `${event.source} failed` : event.notice.replaceAll("-", " ");
    const isSame = (one: Notice) => one.what === what && one.detail === detail;
    const times = (notices.find(isSame)?.times ?? 0) + 1;
    const others = notices.filter((one) => !isSame(one));
    notices = [{ at: core.clock.now(), what, detail, times }, ...others].slice(0, MOST_NOTICES);
    tell({ topic: "notices" });
  }

  const observe = (of: Gateway) =>
    faceApiOf(of).observe({
      called: (call) => {
        const failed = call.outcome === "ok" ? 0 : 1;
        const part = DISCOVERY.includes(call.operation) ? "discovery" : "results";
        const { startedAt, targets, tokens, principal, client = "" } = call;
        series.add(startedAt, { calls: 1, failed, [part]: tokens });
        series.addUse(startedAt, "agent", principal.id, { [part]: tokens });
        series.addUse(startedAt, "client", client, { [part]: tokens });
        if (part === "results")
          for (const target of targets)
            series.addUse(startedAt, "tool", target, { results: tokens / targets.length });
        conversations.note(call);
        count(call);
        tell({ topic: "calls", principal: call.principal.id });
      },
      listed: (tools, principal, client = "") => {
        menus.push({ at: core.clock.now(), tools, principal, client, of });
        countSoon();
      },
    });
  const stops = [
    observe(gateway),
    gateway.onChange(() => tell({ topic: "catalog" })),
    gateway.pins.onChange(async () => tell({ topic: "approvals" })),
    onNotice(noteEvent),
  ];
  return {
    startedAt: core.clock.now(),
    series,
    conversations,
    counts: () => [...counts.values()],
    /** Resolves when every menu that was shown is counted, once servers have started. */
    settle: countMenus,
    /** Newest first. */
    notices: () => notices,
    tell,
    /** Counts the calls of a further gateway too. */
    add: (of: Gateway) => void stops.push(observe(of)),
    /** Returns unsubscribe. */
    onNews: (listener: (news: News) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {
      for (const stop of stops) stop();
      await countMenus().catch(() => {});
      listeners.clear();
      await series.save();
    },
  };
}

const MINUTE_MS = 60_000;
const MOST_MINUTES = 120;
/** Days whose sums are kept, this one included. */
const KEPT_DAYS = 30;
const SAVE_MS = 2_000;
const NOTHING = {
  ...{ calls: 0, failed: 0, discovery: 0, results: 0 },
  ...{ listings: 0, menus: 0, everything: 0, alone: 0 },
};
type Counts = typeof NOTHING;
const COUNTS = Object.keys(NOTHING) as (keyof Counts)[];
const countsSchema = z.object(Object.fromEntries(COUNTS.map((name) => [name, z.number().default(0)])));
/** Clients, agents and tools of one day that are told apart. Names come from outside. */
const MOST_USES = 1_000;
const NAME_CHARS = 200;

/** Something whose use of tokens is summed up by itself. */
type UseOf = "client" | "agent" | "tool";

const sizesOf = memoizeByObject(async (entries: readonly Entry[]): Promise<readonly ToolTokens[]> => {
  const countTokens = await loadTokenCounter();
  return entries.filter(isOfferedTool).map((tool) => toolTokens(tool, countTokens));
});

function addCounts(sum: Counts, counts: Partial<Counts>): void {
  for (const name of COUNTS) sum[name] += counts[name] ?? 0;
}

/** Counts by minute, for the last two hours, and sums by day, which outlive the process as far as the storage does. */
function createCallSeries(storage: RecordStorage, now: () => number) {
  const minutes = new Map<number, Counts & { readonly at: number }>();
  const days = openRecords(storage, "day", countsSchema as unknown as z.ZodType<Counts>);
  const uses = openRecords(storage, "use", countsSchema as unknown as z.ZodType<Counts>);
  /** The days of this process, and the uses in them. Others write their own records beside them. */
  const own = new Map<string, Counts>();
  const ownUses = new Map<string, Counts>();
  const process = randomUUID();
  let saving: NodeJS.Timeout | undefined;
  // The storage tells of failures.
  const refresh = () =>
    Promise.resolve()
      .then(() => Promise.all([days.refresh(), uses.refresh()]))
      .catch(() => {});
  const oldest = () => dayOf(now() - (KEPT_DAYS - 1) * 24 * 60 * MINUTE_MS);
  const save = async () => {
    clearTimeout(saving);
    saving = undefined;
    await Promise.all([saveTo(days, own), saveTo(uses, ownUses)]).catch(() => {});
  };
  const saveTo = (records: Records<Counts>, sums: ReadonlyMap<string, Counts>) => {
    const old = [...records.entries().keys()].filter((key) => key < oldest());
    return records.change(new Map<string, Counts | undefined>([...sums, ...revoked(old)]));
  };
  /** Sums of the kept days, the newest first. */
  const byDay = async (): Promise<ReadonlyMap<string, Counts>> => {
    await refresh();
    const sums = new Map<string, Counts>();
    for (const [key, counts] of [...new Map([...days.entries(), ...own])].toSorted().toReversed()) {
      const [day = ""] = key.split(" ");
      const sum = sums.get(day) ?? { ...NOTHING };
      if (day >= oldest()) sums.set(day, sum);
      addCounts(sum, counts);
    }
    return sums;
  };
  void refresh();

  return {
    add: (time: number, counts: Partial<Counts>) => {
      const at = time - (time % MINUTE_MS);
      const key = `${dayOf(time)} ${process}`;
      const minute = minutes.get(at) ?? { at, ...NOTHING };
      const day = own.get(key) ?? { ...NOTHING };
      minutes.set(at, minute);
      own.set(key, day);
      addCounts(minute, counts);
      addCounts(day, counts);
      if (minutes.size > MOST_MINUTES) minutes.delete(Math.min(...minutes.keys()));
      saving ??= setTimeout(() => void save(), SAVE_MS).unref();
    },
    addUse: (time: number, of: UseOf, name: string, counts: Partial<Counts>) => {
      const key = `${dayOf(time)} ${process} ${of} ${cutText(name, NAME_CHARS)}`;
      if (!ownUses.has(key) && ownUses.size >= MOST_USES) return;
      const sum = ownUses.get(key) ?? { ...NOTHING };
      ownUses.set(key, sum);
      addCounts(sum, counts);
    },
    /** Sums by name, from a time on. */
    usesOf: (of: UseOf, since = 0): ReadonlyMap<string, Counts> => {
      refresh();
      const sums = new Map<string, Counts>();
      const first = [dayOf(since), oldest()].toSorted().at(-1)!;
      for (const [key, counts] of new Map([...uses.entries(), ...ownUses])) {
        const [, kind, name = ""] = /^\S+ \S+ (\S+) (.*)$/s.exec(key) ?? [];
        if (kind !== of || key < first) continue;
        const sum = sums.get(name) ?? { ...NOTHING };
        sums.set(name, sum);
        addCounts(sum, counts);
      }
      return sums;
    },
    /** Minutes with something in them, oldest first. */
    minutes: (): readonly Minute[] => [...minutes.values()].sort((one, other) => one.at - other.at),
    totals: async (): Promise<Counts> => {
      const totals = { ...NOTHING };
      for (const day of (await byDay()).values()) addCounts(totals, day);
      return totals;
    },
    byDay,
    save,
  };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

const MOST = 200;
const MOST_STEPS = 200;
/** Calls of a caller that names no session belong together until there is a pause. */
const PAUSE_MS = 10 * 60_000;

/** The newest conversations of a gateway, in memory only. */
function createConversations() {
  const conversations = new LRUCache<string, Conversation>({ max: MOST });
  /** The conversations of callers without a session, by principal. */
  const current = new LRUCache<string, string>({ max: MOST });

  function idOf({ conversation, principal, startedAt }: FinishedCall): string {
    if (conversation !== undefined) return contentHash([principal.id, conversation]).slice(0, 16);
    const open = conversations.peek(current.get(principal.id) ?? "");
    const isOpen = open !== undefined && startedAt - open.lastAt <= PAUSE_MS;
    const id = isOpen ? open.id : contentHash([principal.id, startedAt]).slice(0, 16);
    current.set(principal.id, id);
    return id;
  }

  return {
    note: (call: FinishedCall) => {
      const id = idOf(call);
      const { principal, startedAt, outcome, tokens } = call;
      const before = conversations.get(id);
      conversations.set(id, {
        id,
        principal: principal.id,
        client: call.client ?? before?.client ?? "",
        startedAt: before?.startedAt ?? startedAt,
        lastAt: startedAt,
        calls: (before?.calls ?? 0) + 1,
        failed: (before?.failed ?? 0) + (outcome === "ok" ? 0 : 1),
        tokens: (before?.tokens ?? 0) + tokens,
        steps: [...(before?.steps ?? []), toStep(call)].slice(-MOST_STEPS),
      });
    },
    /** Newest first. */
    list: () => [...conversations.values()].sort((one, other) => other.lastAt - one.lastAt),
    find: (id: string) => conversations.peek(id),
  };
}

const QUERY_CHARS = 200;
const MOST_ROUTES = 20;
const SECRET = "[secret]";

interface AnsweredCall {
  readonly queries?: readonly string[];
  readonly hits?: readonly { readonly route: string; readonly entryPoint?: true }[];
  readonly guidance?: readonly { readonly route: string }[];
  readonly results?: readonly { readonly data?: AnsweredCall; readonly exec?: AnsweredCall }[];
  readonly dryRun?: boolean;
  readonly meta?: { readonly dryRun?: boolean };
}

function toStep(call: FinishedCall): ConversationStep {
  const answer = call.answer as AnsweredCall;
  const parts = [answer, ...(answer.results ?? []).flatMap(({ data, exec }) => [data ?? {}, exec ?? {}])];
  const hits = (answer.hits ?? []).filter(({ entryPoint }) => !entryPoint);
  return {
    at: call.startedAt,
    operation: call.operation,
    queries: (answer.queries ?? []).map((query) =>
      cutText(replaceSecrets(hideSecrets(query), SECRET), QUERY_CHARS),
    ),
    targets: call.targets.slice(0, MOST_ROUTES),
    found: hits.slice(0, MOST_ROUTES).map(({ route }) => route),
    unveiled: parts
      .flatMap(({ guidance = [] }) => guidance)
      .slice(0, MOST_ROUTES)
      .map(({ route }) => route),
    dryRun: parts.some(({ dryRun, meta }) => dryRun === true || meta?.dryRun === true),
    outcome: call.outcome,
    tokens: call.tokens,
    latencyMs: Math.round(call.latencyMs),
    traceId: call.traceId,
  };
}
