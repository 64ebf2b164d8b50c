import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { OpenStorage, Storage } from "../../base/util/storage.ts";
import {
  addCounts,
  type DayRecord,
  dayOf,
  type ToolCounts,
  type UsageLimit,
  UsageMeter,
} from "./usage-meter.ts";

export interface UsageOptions {
  /** Storage of the counts. Gateways that share it share every limit. */
  readonly open: OpenStorage;
  /** Limit for each person. */
  readonly person?: UsageLimit | undefined;
  /** Limits for all people together at a server, by its label. */
  readonly servers?: Readonly<Record<string, UsageLimit>> | undefined;
  readonly now?: () => number;
}

interface MeteredCall {
  readonly person: string;
  readonly server: string;
  readonly op: string;
  /** The request that the call belongs to. */
  readonly traceId: string;
}

export interface UsageCounts {
  readonly calls: number;
  readonly failed: number;
  readonly tokens: number;
}

/** A person's use of a tool in a day. `op` is empty for answers that ran no tool. */
export interface UsageRow extends UsageCounts {
  readonly day: string;
  readonly person: string;
  readonly server: string;
  readonly op: string;
}

/** Counts calls and tokens by person, server and tool, and refuses calls over a limit. */
export type PeopleUsage = ReturnType<typeof createUsage>;

const DAY_MS = 86_400_000;
const KEPT_DAYS = 32;
const STORED = {
  all: { entries: 4_000_000, size: 16 * 1024 ** 3 },
  perOwner: { entries: 100, size: 64 * 1024 ** 2 },
  ttlMs: KEPT_DAYS * DAY_MS,
};
const MOST_OPEN = 10_000;
const MOST_PEOPLE = 20_000;
/** Key of the list of people, next to their days. */
const ALL = "";

export function createUsage({ open, person = {}, servers = {}, now = Date.now }: UsageOptions) {
  const gateway = randomUUID();
  const days = open<DayRecord>("usage", STORED);
  const people = open<readonly string[]>("usage-people", STORED);
  const meters = new Map<string, UsageMeter>();
  const totals = new Map<string, ToolCounts>();
  /** The tools that each open request has run. */
  const running = new LRUCache<string, string[]>({ max: MOST_OPEN });

  function meterOf(kind: "person" | "server", name: string): UsageMeter {
    const subject = `${kind} ${name}`;
    const existing = meters.get(subject);
    if (existing) return existing;
    const limit = kind === "person" ? person : (servers[name] ?? {});
    const onDay = kind === "person" ? (day: string) => addPerson(people, day, name) : undefined;
    const meter = new UsageMeter({ days, subject, name, limit, gateway, now, onDay });
    if (meters.size >= MOST_OPEN) dropIdle(meters);
    meters.set(subject, meter);
    return meter;
  }

  function add(name: string, tool: string, counts: ToolCounts): void {
    meterOf("person", name).add(tool, counts);
    const key = JSON.stringify([name, tool]);
    if (totals.has(key) || totals.size < MOST_OPEN) totals.set(key, addCounts(totals.get(key), counts));
  }

  return {
    /**
     * Lets a call begin. Resolves to a function to call at its end.
     *
     * @throws LIMIT_REACHED; STATE_UNREACHABLE if the count cannot be read.
     */
    enter: async ({
      person: name,
      server,
      op,
      traceId,
    }: MeteredCall): Promise<(hasFailed: boolean) => void> => {
      const entered: UsageMeter[] = [];
      try {
        for (const meter of [meterOf("person", name), meterOf("server", server)]) {
          await meter.enter();
          entered.push(meter);
        }
      } catch (error) {
        for (const meter of entered) meter.leave(true);
        throw error;
      }
      const tool = `${server} ${op}`;
      running.set(traceId, [...(running.get(traceId) ?? []), tool]);
      return (hasFailed) => {
        for (const meter of entered) meter.leave();
        add(name, tool, [1, hasFailed ? 1 : 0, 0]);
      };
    },
    /** Counts the tokens of an answer for the tools that its request ran. */
    answered: ({
      person: name,
      traceId,
      tokens,
    }: Pick<MeteredCall, "person" | "traceId"> & { readonly tokens: number }): void => {
      const tools = running.get(traceId) ?? [" "];
      running.delete(traceId);
      for (const tool of tools) {
        const share = Math.round(tokens / tools.length);
        add(name, tool, [0, 0, share]);
        const [server = ""] = tool.split(" ");
        if (server !== "") meterOf("server", server).add(tool, [0, 0, share]);
      }
    },
    /** The counts of the last days, over all gateways. */
    report: async (count: number): Promise<readonly UsageRow[]> => {
      await Promise.all([...meters.values()].map((meter) => meter.flush()));
      const rows = Array.from({ length: count }, (_, ago) => dayRows(dayOf(now() - ago * DAY_MS)));
      return (await Promise.all(rows)).flat();
    },
    /** The counts of this process since its start. */
    own: (): readonly Omit<UsageRow, "day">[] =>
      [...totals].map(([key, counts]) => {
        const [name, tool] = JSON.parse(key) as [string, string];
        return { person: name, ...toRow(tool, counts) };
      }),
    /** Writes the counts, and returns reserved calls. */
    close: async (): Promise<void> => {
      await Promise.allSettled([...meters.values()].map((meter) => meter.close()));
    },
  };

  async function dayRows(day: string): Promise<UsageRow[]> {
    const names = (await people.get(day, ALL)) ?? [];
    const rows = names.map(async (name) => {
      const { tools = {} } = (await days.get(day, `person ${name}`)) ?? {};
      return Object.entries(tools).map(([tool, counts]) => ({ day, person: name, ...toRow(tool, counts) }));
    });
    return (await Promise.all(rows)).flat();
  }
}

function toRow(tool: string, [calls, failed, tokens]: ToolCounts) {
  const at = tool.indexOf(" ");
  return { server: tool.slice(0, at), op: tool.slice(at + 1), calls, failed, tokens };
}

function dropIdle(meters: Map<string, UsageMeter>): void {
  for (const [subject, meter] of meters) if (meter.isIdle) meters.delete(subject);
}

async function addPerson(people: Storage<readonly string[]>, day: string, name: string): Promise<void> {
  if (await people.put(day, ALL, [name])) return;
  await people.update(day, ALL, (all) =>
    all.includes(name) || all.length >= MOST_PEOPLE ? all : [...all, name],
  );
}
