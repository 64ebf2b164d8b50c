import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import type { CallingClient, LogLevel } from "../../core/nouns/entry.ts";
import { type ConnectionOptions, createConnection, type OpenSession } from "./connection.ts";
import {
  complaintOf,
  failureReason,
  forgotSession,
  isLost,
  isOutOfReach,
  scopeWanted,
  wantsLogin,
  wasCut,
} from "./failure.ts";
import type { Listing } from "./listing.ts";

export interface UpstreamCall<T> {
  /** Whether running it twice is harmless. */
  readonly repeatable: boolean;
  /** The client behind the call. It receives what the server logs meanwhile. */
  readonly caller?: CallingClient | undefined;
  /** Throws a problem if the server no longer offers the entry as it was listed. */
  check(listing: Listing): void;
  work(client: Client, options: RequestOptions): Promise<T>;
}

export type Upstream = ReturnType<typeof createUpstream>;

/** State of the connection to a server. */
export interface UpstreamDiagnostics {
  readonly connected: boolean;
  readonly pid: number | undefined;
  readonly protocol: "modern" | "legacy" | undefined;
  readonly starts: number;
  readonly running: number;
  readonly waiting: number;
  readonly invalidLines: number;
  /** The last output on stderr, without secrets of the config. */
  readonly stderr: string;
}

/** One server: connected when needed, started again when it fails, isolated from the others. */
export function createUpstream(options: Omit<ConnectionOptions, "onLog">) {
  const { label, limits } = options;
  const connection = createConnection({ ...options, onLog });
  const slots = createSlots(label, limits.concurrency, limits.queue);
  const running = new Set<UpstreamCall<unknown>>();
  /** Timeouts in a row of one session. */
  let timeouts = 0;
  let hanging: OpenSession | undefined;

  async function attempt<T>(call: UpstreamCall<T>, signal: AbortSignal, mayReopen = true): Promise<T> {
    // A server that is down is not called, even if the catalog does not say so yet.
    const { status } = connection.state;
    if (status) throw problem("UNAVAILABLE", { name: `The server ${label}`, ...status });
    const connected = connection.connect();
    const session = connected instanceof Promise ? await untilAborted(connected, signal) : connected;
    call.check(session.listing);
    session.transport.running.add(call);
    try {
      const result = await call.work(session.client, { signal, timeout: limits.totalMs });
      timeouts = 0;
      return result;
    } catch (error) {
      if (signal.aborted) {
        noteTimeout(session, signal.reason);
        throw signal.reason;
      }
      if (mayReopen && forgotSession(error, session.transport.wire)) {
        connection.drop(session);
        return attempt(call, signal, false);
      }
      throw toCallProblem(error, session);
    } finally {
      session.transport.running.delete(call);
    }
  }

  function toCallProblem(error: unknown, { transport: { ending, process } }: OpenSession): Problem {
    if (isOutOfReach(error)) return connection.markUnavailable(connection.toStatus(error));
    if (isProblem(error) && !wasCut(error)) return error;
    if (isLost(error) || (ending !== undefined && !process)) {
      const why = ending ?? failureReason(error);
      const reason = `${why}${complaintOf(process?.stderrText() ?? "")}`;
      return problem("UPSTREAM_LOST", { server: label, reason }, { server: label, reason });
    }
    if (wantsLogin(error)) return connection.markUnavailable(connection.toStatus(error));
    const scope = scopeWanted(error);
    if (scope !== undefined) {
      const reason = `${scope}${connection.loginAdvice()}`;
      return problem("LOGIN_NEEDED", { name: `The server ${label}`, status: 403, reason }, { reason });
    }
    const reason = failureReason(error);
    return problem("UPSTREAM_ERROR", { server: label, reason }, { server: label });
  }

  /** Several timeouts in a row mean that the server hangs: it is ended and left alone for a while. */
  function noteTimeout(session: OpenSession, reason: unknown): void {
    if (!isProblem(reason) || reason.code !== "TIMEOUT" || connection.state.session !== session) return;
    timeouts = hanging === session ? timeouts + 1 : 1;
    hanging = session;
    if (timeouts < limits.breakerTimeouts) return;
    const words = `${timeouts} calls in a row were not answered in time`;
    const forMs = limits.breakerMs * (0.75 + Math.random() / 2);
    connection.markUnavailable({ state: "server_down", reason: words }, forMs);
  }

  /** Log messages name no call, so they are passed on only while a single call runs. */
  function onLog(level: LogLevel, data: unknown, logger: string | undefined): void {
    const [only] = running;
    const everybody = connection.state.session?.transport.running;
    if (only?.caller && running.size === 1 && everybody?.size === 1 && everybody.has(only))
      only.caller.log(level, hideSecrets(typeof data === "string" ? toVisibleText(data) : data), logger);
  }

  return {
    ...connection,
    /** Connects ahead of a call, unless the server is down or waits for a consent. */
    warm: () => {
      if (!connection.state.status)
        Promise.resolve()
          .then(connection.connect)
          .catch(() => {});
    },
    /** Lists again, even if the server has failed too often for automatic attempts. */
    retry: async () => {
      connection.restarts.forget();
      const { session } = connection.state;
      await connection.relist().catch((error: unknown) => {
        throw session ? toCallProblem(error, session) : error;
      });
    },
    /** Ends the connection, with its process, and opens a new one. */
    restart: async () => {
      connection.restarts.forget();
      const { session } = connection.state;
      if (session) connection.drop(session);
      await connection.connect();
    },
    run: async <T>(call: UpstreamCall<T>, signal: AbortSignal): Promise<T> => {
      const slot = slots.take(signal);
      const release = slot instanceof Promise ? await slot : slot;
      const endUse = connection.holdOpen();
      running.add(call);
      try {
        return await attempt(call, signal);
      } catch (error) {
        if (!call.repeatable || signal.aborted || !isProblem(error) || error.code !== "UPSTREAM_LOST")
          throw error;
        return await attempt(call, signal);
      } finally {
        running.delete(call);
        endUse();
        release();
      }
    },
    diagnostics: (): UpstreamDiagnostics => {
      const { session, last } = connection.state;
      return {
        connected: session !== undefined,
        pid: session?.transport.process?.pid ?? undefined,
        protocol: session?.era.kind,
        starts: connection.restarts.recent().length,
        running: slots.running(),
        waiting: slots.waiting(),
        invalidLines: last?.process?.invalidLines ?? 0,
        stderr: hideSecrets(last?.process?.stderrText() ?? ""),
      };
    },
  };
}

/** Limits how many calls run and how many wait, in order. */
function createSlots(server: string, limit: number, queueLimit: number) {
  const queue = new Set<() => void>();
  let running = 0;

  function give(): () => void {
    running += 1;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      running -= 1;
      const [next] = queue;
      if (!next) return;
      queue.delete(next);
      next();
    };
  }

  /** Returns a function that releases the slot, at once if one is free. */
  function take(signal: AbortSignal): (() => void) | Promise<() => void> {
    signal.throwIfAborted();
    if (running < limit && queue.size === 0) return give();
    if (queue.size >= queueLimit) throw problem("BUSY", { server, running, waiting: queue.size });
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener("abort", leave);
        resolve(give());
      };
      const leave = () => {
        queue.delete(enter);
        reject(signal.reason);
      };
      queue.add(enter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  return { take, running: () => running, waiting: () => queue.size };
}

/** Servers for each core that start at the same time: more of them would only keep each other, and clients, waiting. */
const PER_CORE = 4;
/** A server that takes longer lets the next one start. */
const LONGEST_MS = 1_000;
/** Pause before the first start: beside many new processes, the first list of a client would take seconds. */
const PAUSE_MS = 100;
/** Servers that are listed within this time belong to one start. */
const ONE_START_MS = 10_000;

const firstListings = createSlots("servers", PER_CORE * availableParallelism(), Number.POSITIVE_INFINITY);
let paused: { readonly since: number; readonly over: Promise<void> } | undefined;

/** Lists a server for the first time, when it is its turn. Rejects if the signal aborts before. */
export async function inFirstTurn<T>(list: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await pause();
  const free = await firstListings.take(signal);
  const timer = setTimeout(free, LONGEST_MS);
  try {
    return await list();
  } finally {
    clearTimeout(timer);
    free();
  }
}

function pause(): Promise<void> {
  const now = Date.now();
  if (!paused || Math.abs(now - paused.since) > ONE_START_MS) paused = { since: now, over: sleep(PAUSE_MS) };
  return paused.over;
}
