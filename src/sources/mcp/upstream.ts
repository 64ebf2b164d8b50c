import type { Client, PriorDiscovery, RequestOptions } from "@modelcontextprotocol/client";
import { hideSecrets } from "../../net/known-secrets.ts";
import type { CallingClient, EntryStatus, LogLevel } from "../../schema/entry.ts";
import { isProblem, type Problem, problem } from "../../schema/problem.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import { toVisibleText } from "../../util/visible-text.ts";
import type { CallTool } from "./call-tool.ts";
import { type ConnectionOptions, createConnection, type Session } from "./connection.ts";
import {
  failureReason,
  forgotSession,
  isLost,
  isOutOfReach,
  lastComplaint,
  scopeWanted,
  wantsLogin,
  wasCut,
} from "./failure.ts";
import type { Listing } from "./listing.ts";
import { createSlots } from "./slots.ts";

export type UpstreamOptions = Omit<ConnectionOptions, "onLog">;

export interface UpstreamCall<T> {
  /** Whether running it twice is harmless. */
  readonly repeatable: boolean;
  /** The client behind the call. It receives what the server logs meanwhile. */
  readonly caller?: CallingClient | undefined;
  /** Throws a problem if the server no longer offers the entry as it was listed. */
  check(listing: Listing): void;
  work(client: Client, options: RequestOptions, callTool: CallTool): Promise<T>;
}

/** One server: connected when needed, started again when it fails, isolated from the others. */
export interface Upstream {
  readonly listing: Listing | undefined;
  /** Undefined while the server can be used. */
  readonly status: EntryStatus | undefined;
  /** The protocol that the server speaks. */
  readonly era: PriorDiscovery | undefined;
  /** Uses the protocol that an earlier run has found. */
  recall(era: PriorDiscovery | undefined): void;
  /** Connects if needed and lists everything again. */
  refresh(): Promise<void>;
  /** Connects ahead of a call, unless the server is down or waits for a consent. */
  warm(): void;
  /** Refreshes, even if the server has failed too often to be tried by itself. */
  retry(): Promise<void>;
  /** Ends the connection, with its process, and opens a new one. */
  restart(): Promise<void>;
  /** How long a server that is down has to rest; undefined while it is up. */
  restMs(): number | undefined;
  run<T>(call: UpstreamCall<T>, signal: AbortSignal): Promise<T>;
  diagnostics(): UpstreamDiagnostics;
  /** Resolves when no process of the server is left. */
  close(): Promise<void>;
}

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

export function createUpstream(options: UpstreamOptions): Upstream {
  const { label, limits } = options;
  const connection = createConnection({ ...options, onLog });
  const slots = createSlots(label, limits.concurrency, limits.queue);
  const running = new Set<UpstreamCall<unknown>>();
  /** Timeouts in a row of one session. */
  let timeouts = 0;
  let hanging: Session | undefined;

  async function attempt<T>(call: UpstreamCall<T>, signal: AbortSignal, mayReopen = true): Promise<T> {
    // A server that is down rests, even if the catalog does not say so yet.
    const { status } = connection;
    if (status) throw problem("UNAVAILABLE", { name: `The server ${label}`, ...status });
    const found = connection.connect();
    const session = found instanceof Promise ? await untilAborted(found, signal) : found;
    call.check(session.listing);
    session.made.running.add(call);
    try {
      const { client, callTool } = session;
      const result = await call.work(client, { signal, timeout: limits.totalMs }, callTool);
      timeouts = 0;
      return result;
    } catch (error) {
      if (signal.aborted) {
        noteTimeout(session, signal.reason);
        throw signal.reason;
      }
      if (mayReopen && forgotSession(error, session.made.transport)) {
        connection.drop(session);
        return attempt(call, signal, false);
      }
      throw toCallProblem(error, session);
    } finally {
      session.made.running.delete(call);
    }
  }

  function toCallProblem(error: unknown, { made: { ending, process } }: Session): Problem {
    if (isOutOfReach(error)) return connection.goDown(connection.explain(error));
    if (isProblem(error) && !wasCut(error)) return error;
    if (isLost(error) || (ending !== undefined && !process)) {
      const why = ending ?? failureReason(error);
      const reason = `${why}${lastComplaint(process?.stderrText() ?? "")}`;
      return problem("UPSTREAM_LOST", { server: label, reason }, { server: label, reason });
    }
    if (wantsLogin(error)) return connection.goDown(connection.explain(error));
    const scope = scopeWanted(error);
    if (scope !== undefined) {
      const reason = `${scope}${connection.loginAdvice()}`;
      return problem("LOGIN_NEEDED", { name: `The server ${label}`, status: 403, reason }, { reason });
    }
    const reason = failureReason(error);
    return problem("UPSTREAM_ERROR", { server: label, reason }, { server: label });
  }

  /** Several timeouts in a row mean that the server hangs: it is ended and rests. */
  function noteTimeout(session: Session, reason: unknown): void {
    if (!isProblem(reason) || reason.code !== "TIMEOUT" || connection.session !== session) return;
    timeouts = hanging === session ? timeouts + 1 : 1;
    hanging = session;
    if (timeouts < limits.breakerTimeouts) return;
    const words = `${timeouts} calls in a row were not answered in time`;
    connection.goDown({ state: "server_down", reason: words }, limits.breakerMs * (0.75 + Math.random() / 2));
  }

  /** Log messages name no call, so they are passed on only while a single call runs. */
  function onLog(level: LogLevel, data: unknown, logger: string | undefined): void {
    const [only] = running;
    const everybody = connection.session?.made.running;
    if (only?.caller && running.size === 1 && everybody?.size === 1 && everybody.has(only))
      only.caller.log(level, hideSecrets(typeof data === "string" ? toVisibleText(data) : data), logger);
  }

  return {
    get listing() {
      return connection.listing;
    },
    get status() {
      return connection.status;
    },
    get era() {
      return connection.era;
    },
    recall: connection.recall,
    refresh: connection.relist,
    warm: () => {
      if (!connection.status) Promise.try(connection.connect).catch(() => {});
    },
    retry: async () => {
      connection.forgetFailures();
      const { session } = connection;
      await connection.relist().catch((error: unknown) => {
        throw session ? toCallProblem(error, session) : error;
      });
    },
    restart: async () => {
      connection.forgetFailures();
      const { session } = connection;
      if (session) connection.drop(session);
      await connection.connect();
    },
    restMs: connection.restMs,
    run: async (call, signal) => {
      const release = await slots.take(signal);
      const endUse = connection.use();
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
    diagnostics: () => {
      const { session, last, starts } = connection;
      return {
        connected: session !== undefined,
        pid: session?.made.process?.pid ?? undefined,
        protocol: session?.era.kind,
        starts,
        running: slots.running,
        waiting: slots.waiting,
        invalidLines: last?.process?.invalidLines ?? 0,
        stderr: hideSecrets(last?.process?.stderrText() ?? ""),
      };
    },
    close: connection.close,
  };
}
