import type { Client, PriorDiscovery, RequestOptions } from "@modelcontextprotocol/client";
import type { CallingClient, EntryStatus, LogLevel } from "../../schema/entry.ts";
import { isProblem, type Problem, problem } from "../../schema/problem.ts";
import type { Clock } from "../../util/clock.ts";
import { sleep } from "../../util/sleep.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import {
  createHider,
  failureReason,
  forgotSession,
  isLost,
  isOutOfReach,
  lastComplaint,
  scopeWanted,
  toStatus,
  wantsLogin,
  wasCut,
} from "./failure.ts";
import { fetchListing, type Listing } from "./listing.ts";
import type { ServerLogin } from "./login/server-login.ts";
import type { Made, Opened } from "./open-client.ts";
import { createRestartPolicy } from "./restart-policy.ts";
import type { ServerConfig } from "./server-config.ts";
import { createSlots } from "./slots.ts";

export interface UpstreamLimits {
  /** Calls that run at a time, and that wait for their turn. */
  readonly concurrency: number;
  readonly queue: number;
  readonly connectMs: number;
  /** How long a call may take however much progress it reports. */
  readonly totalMs: number;
  readonly maxLineBytes: number;
  readonly graceMs: number;
  readonly restarts: number;
  readonly restartWindowMs: number;
  readonly backoffMs: number;
  /** Calls in a row that were not answered in time before the server counts as down, and for how long. */
  readonly breakerTimeouts: number;
  readonly breakerMs: number;
  /** The least time between two listings, however often the server says that they changed. */
  readonly relistMs: number;
}

export interface UpstreamOptions {
  readonly label: string;
  readonly config: ServerConfig;
  readonly limits: UpstreamLimits;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** How an HTTP server is reached, and as whom. */
  readonly login?: ServerLogin | undefined;
  /** A listing arrived, or the status changed. */
  onChange(): void;
}

export interface UpstreamCall<T> {
  /** Whether running it twice is harmless. */
  readonly repeatable: boolean;
  /** The client behind it, which is told what the server logs meanwhile. */
  readonly caller?: CallingClient | undefined;
  /** Refuses what the server no longer offers as it was listed. Throws a problem. */
  check(listing: Listing): void;
  work(client: Client, options: RequestOptions): Promise<T>;
}

/** One server: connected when needed, started again when it fails, and never a danger to another. */
export interface Upstream {
  readonly listing: Listing | undefined;
  readonly status: EntryStatus | undefined;
  readonly era: PriorDiscovery | undefined;
  /** What is known of it from an earlier time. */
  recall(era: PriorDiscovery | undefined): void;
  /** Connects if need be and lists everything again. */
  refresh(): Promise<void>;
  /** The same, however often it has failed before. */
  retry(): Promise<void>;
  run<T>(call: UpstreamCall<T>, signal: AbortSignal): Promise<T>;
  diagnostics(): UpstreamDiagnostics;
  /** Resolves when no process of it is left. */
  close(): Promise<void>;
}

export interface UpstreamDiagnostics {
  readonly connected: boolean;
  readonly pid: number | undefined;
  readonly protocol: "modern" | "legacy" | undefined;
  readonly starts: number;
  readonly running: number;
  readonly waiting: number;
  readonly invalidLines: number;
  /** The last of what it wrote to stderr, without secrets of the config. */
  readonly stderr: string;
}

interface Session extends Opened {
  listing: Listing;
}

export function createUpstream(options: UpstreamOptions): Upstream {
  const { label, config, limits, variables, clock, login, onChange } = options;
  const slots = createSlots(label, limits.concurrency, limits.queue);
  const restarts = createRestartPolicy({
    most: limits.restarts,
    windowMs: limits.restartWindowMs,
    baseMs: limits.backoffMs,
    now: clock.monotonic,
    random: Math.random,
  });
  const stopping = new AbortController();
  const transports = new Set<Made>();
  const endings = new WeakMap<Made, Promise<void>>();
  let last: Made | undefined;
  let session: Session | undefined;
  let connecting: Promise<Session> | undefined;
  let status: EntryStatus | undefined;
  let listing: Listing | undefined;
  let era: PriorDiscovery | undefined;
  let timeouts = 0;
  let retry: (() => void) | undefined;
  let relisting: (() => void) | undefined;
  const running = new Set<UpstreamCall<unknown>>();

  const hide = (text: string) => (last?.hide ?? createHider([]))(text);

  function connect(): Promise<Session> {
    if (session) return Promise.resolve(session);
    connecting ??= open().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  async function open(): Promise<Session> {
    if (restarts.exhaustedFor() > 0) {
      throw goDown({ state: "server_down", reason: tooManyStarts() });
    }
    await sleep(restarts.delay(), clock, stopping.signal, true);
    if (stopping.signal.aborted) throw problem("CLOSED");
    restarts.started();
    try {
      // Not before a server is called: a start is quicker without it.
      const { openClient } = await import("./open-client.ts");
      const opened = await openClient({
        label,
        config,
        variables,
        login,
        era,
        clock,
        ...limits,
        onListChanged: relistSoon,
        onLog: tell,
        onMade: (made) => {
          last = made;
          transports.add(made);
        },
        onClosed: (made) => void end(made),
      });
      const made: Session = { ...opened, listing: await list(opened.client) };
      if (stopping.signal.aborted) throw problem("CLOSED");
      session = made;
      era = made.era;
      timeouts = 0;
      status = undefined;
      setListing(made.listing);
      return made;
    } catch (error) {
      // The next attempt finds out anew which protocol it speaks.
      era = undefined;
      if (last) void end(last);
      if (stopping.signal.aborted) throw problem("CLOSED");
      throw goDown(explain(error));
    }
  }

  /** Closes a transport, once. Resolves when nothing of it is left. */
  function end(made: Made): Promise<void> {
    if (session?.made === made) session = undefined;
    const known = endings.get(made);
    if (known) return known;
    const { promise, resolve } = Promise.withResolvers<void>();
    endings.set(made, promise);
    const done = () => {
      transports.delete(made);
      resolve();
    };
    made.transport.close().then(done, done);
    return promise;
  }

  function explain(error: unknown): EntryStatus {
    const ending = last?.ending;
    const known = toStatus(error, hide);
    if (known.state === "needs_login") return { ...known, reason: `${known.reason}${nextLogin()}` };
    if (!last?.process) return ending === undefined ? known : { ...known, reason: ending };
    const reason = ending !== undefined && (isLost(error) || !isProblem(error)) ? ending : known.reason;
    return { ...known, reason: `${reason}${lastComplaint(last.process.stderrText(), hide)}` };
  }

  function nextLogin(): string {
    if (config.transport !== "http") return "";
    const why = login?.complaint;
    const told = why ? `; its token could not be renewed: ${hide(why)}` : "";
    return config.oauth?.grant === "client_credentials" ? told : `${told}; run: keyhole login ${label}`;
  }

  /** Marks the server as out of use and tries again by itself later. */
  function goDown(next: EntryStatus, forMs = 0): Problem {
    status = next;
    if (session) void end(session.made);
    onChange();
    retry?.();
    if (!stopping.signal.aborted) {
      const wait = Math.max(forMs, restarts.exhaustedFor(), restarts.delay(), limits.backoffMs);
      retry = clock.after(wait, () => void connect().catch(() => {}));
    }
    return unavailable(next);
  }

  function unavailable(why: EntryStatus): Problem {
    return problem("UNAVAILABLE", { name: `The server ${label}`, ...why });
  }

  function tooManyStarts(): string {
    const minutes = Math.round(limits.restartWindowMs / 60_000);
    const why = last?.ending;
    return `it had to be started more than ${limits.restarts} times in ${minutes} minutes${why ? `; ${why}` : ""}`;
  }

  function setListing(next: Listing): void {
    listing = next;
    onChange();
  }

  /** A message names no call; where several run, nobody can be told whose it is. */
  function tell(level: LogLevel, data: unknown, logger: string | undefined): void {
    const [only, ...others] = running;
    if (only?.caller?.passOn && others.length === 0) only.caller.log(level, data, logger);
  }

  /** However fast a server says that its lists change, they are read once in a while. */
  function relistSoon(): void {
    if (relisting || stopping.signal.aborted) return;
    relisting = clock.after(limits.relistMs, () => {
      void relist()
        .catch(() => {})
        .finally(() => {
          relisting = undefined;
        });
    });
  }

  function list(client: Client): Promise<Listing> {
    return fetchListing(client, limits.connectMs, config.transport === "http");
  }

  async function relist(): Promise<void> {
    const open = session;
    if (!open) return;
    try {
      open.listing = await list(open.client);
    } catch (error) {
      if (!forgotSession(error, open.made.transport)) throw error;
      void end(open.made);
      return void (await connect());
    }
    setListing(open.listing);
  }

  async function attempt<T>(call: UpstreamCall<T>, signal: AbortSignal, mayOpen = true): Promise<T> {
    // The catalog says so too, a little later; a server that rests is left alone.
    if (status) throw unavailable(status);
    const open = await untilAborted(connect(), signal);
    call.check(open.listing);
    try {
      const result = await call.work(open.client, { signal, timeout: limits.totalMs });
      timeouts = 0;
      return result;
    } catch (error) {
      if (signal.aborted) throw timedOut(open, signal.reason);
      if (mayOpen && forgotSession(error, open.made.transport)) {
        void end(open.made);
        return attempt(call, signal, false);
      }
      throw toCallProblem(error, open);
    }
  }

  function toCallProblem(error: unknown, open: Session): Problem {
    const { ending: ended, process } = open.made;
    if (isOutOfReach(error)) return goDown(explain(error));
    if (isProblem(error) && !wasCut(error)) return error;
    if (isLost(error) || (ended !== undefined && !process)) {
      const ending = ended ?? failureReason(error, hide);
      const reason = `${ending}${lastComplaint(process?.stderrText() ?? "", hide)}`;
      return problem("UPSTREAM_LOST", { server: label, reason }, { server: label, reason });
    }
    if (wantsLogin(error)) return goDown(explain(error));
    const scope = scopeWanted(error);
    if (scope !== undefined) {
      const reason = `${scope}${nextLogin()}`;
      return problem("LOGIN_NEEDED", { name: `The server ${label}`, status: 403, reason }, { reason });
    }
    return problem(
      "UPSTREAM_ERROR",
      { server: label, reason: failureReason(error, hide) },
      { server: label },
    );
  }

  /** Several in a row mean that the server hangs: it is ended, and given a rest. */
  function timedOut(open: Session, reason: unknown): unknown {
    if (!isProblem(reason) || reason.code !== "TIMEOUT" || session !== open) return reason;
    timeouts += 1;
    if (timeouts < limits.breakerTimeouts) return reason;
    const words = `${timeouts} calls in a row were not answered in time`;
    goDown({ state: "server_down", reason: words }, limits.breakerMs * (0.75 + Math.random() / 2));
    return reason;
  }

  return {
    get listing() {
      return listing;
    },
    get status() {
      return status;
    },
    get era() {
      return era;
    },
    recall: (known) => {
      era = known;
    },
    refresh: async () => {
      if (session) return relist();
      await connect();
    },
    retry: async () => {
      restarts.forget();
      const open = session;
      if (!open) return void (await connect());
      await relist().catch((error: unknown) => {
        throw toCallProblem(error, open);
      });
    },
    run: async (call, signal) => {
      const release = await slots.take(signal);
      running.add(call);
      try {
        return await attempt(call, signal);
      } catch (error) {
        if (!call.repeatable || signal.aborted || !isProblem(error) || error.code !== "UPSTREAM_LOST")
          throw error;
        return await attempt(call, signal);
      } finally {
        running.delete(call);
        release();
      }
    },
    diagnostics: () => ({
      connected: session !== undefined,
      pid: session?.made.process?.pid ?? undefined,
      protocol: session?.era.kind,
      starts: restarts.recent,
      running: slots.running,
      waiting: slots.waiting,
      invalidLines: last?.process?.invalidLines ?? 0,
      stderr: hide(last?.process?.stderrText() ?? ""),
    }),
    close: async () => {
      stopping.abort();
      retry?.();
      relisting?.();
      await Promise.all([...transports].map(end));
      // One that was being made meanwhile.
      await connecting?.catch(() => {});
      await Promise.all([...transports].map(end));
      await login?.close();
    },
  };
}
