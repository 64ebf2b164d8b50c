import type { Client, PriorDiscovery } from "@modelcontextprotocol/client";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import type { EntryStatus, LogLevel } from "../../core/nouns/entry.ts";
import { backoffMs, sleep } from "../backoff.ts";
import { complaintOf, forgotSession, isLost, statusOf } from "./failure.ts";
import { fetchListing, type Listing } from "./listing.ts";
import type { OpenedUpstream, OpenTransport } from "./open-client.ts";
import type { SharedServers } from "./shared-servers.ts";
import type { UpstreamLimits, UpstreamTarget } from "./upstream-target.ts";

export interface ConnectionOptions extends UpstreamTarget {
  /** Servers that other gateways use too. Without them, each connection has a process of its own. */
  readonly shared?: SharedServers | undefined;
  /** Whether a person has consented to the program as it is now. */
  mayStart(): boolean | Promise<boolean>;
  /** Called when a listing arrives or the status changes. */
  onChange(): void;
  onLog(level: LogLevel, data: unknown, logger: string | undefined): void;
}

/** An open connection with the listing that it gave. */
export interface OpenSession extends OpenedUpstream {
  listing: Listing;
}

export interface ConnectionState {
  session?: OpenSession | undefined;
  /** The last listing, also while no session is open. */
  listing?: Listing | undefined;
  /** Undefined while the server can be used. */
  status?: EntryStatus | undefined;
  /** The protocol that the server speaks. */
  era?: PriorDiscovery | undefined;
  last?: OpenTransport | undefined;
}

/** How often a consent is looked for. */
const CONSENT_MS = 500;

/** The connection to one server: opened when needed, opened again after a failure. */
export function createConnection(options: ConnectionOptions) {
  const { label, config, limits, clock, login, onChange } = options;
  const { commandFor = (words) => `keyhole ${words.join(" ")}` } = options;
  const noConsent: EntryStatus = {
    state: "quarantined",
    reason: `a person has to approve what it runs; the user has to type: ${commandFor(["approve", label])}`,
  };
  const restarts = createRestartPolicy(limits, clock.monotonic);
  const state: ConnectionState = { status: options.mayStart() === true ? undefined : noConsent };
  const stopping = new AbortController();
  const transports = new Set<OpenTransport>();
  const endings = new WeakMap<OpenTransport, Promise<void>>();
  let connecting: Promise<OpenSession> | undefined;
  let retryAt = 0;
  let cancelRelist: (() => void) | undefined;
  let uses = 0;
  let cancelIdleStop: (() => void) | undefined;

  /** Returns the session, and opens one first if there is none. A promise only if there is something to wait for. */
  function connect(): OpenSession | Promise<OpenSession> {
    // Asked again while connected, because a person may take the consent back.
    const mayStart = options.mayStart();
    return mayStart === true && state.session ? state.session : enter(mayStart);
  }

  async function enter(mayStart: boolean | Promise<boolean>): Promise<OpenSession> {
    if (!(await mayStart)) throw markUnavailable(noConsent, CONSENT_MS);
    if (state.status === noConsent) state.status = undefined;
    if (state.session) return state.session;
    connecting ??= open().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  async function open(): Promise<OpenSession> {
    if (restarts.exhaustedFor() > 0) {
      throw markUnavailable({ state: "server_down", reason: tooManyStarts() });
    }
    await sleep(restarts.delay(), clock, stopping.signal, true);
    if (stopping.signal.aborted) throw problem("CLOSED");
    restarts.started();
    try {
      // Loaded with the first server that is opened, which makes a start quicker.
      const { openClient } = await import("./open-client.ts");
      // The gateway may have been closed meanwhile.
      if (stopping.signal.aborted) throw problem("CLOSED");
      const opened = await (options.shared?.open ?? openClient)({
        ...options,
        era: state.era,
        signal: stopping.signal,
        onListChanged: relistSoon,
        onTransport: (transport) => {
          state.last = transport;
          transports.add(transport);
        },
        onClosed: (transport) => void end(transport),
      });
      const session: OpenSession = { ...opened, listing: await list(opened.client) };
      if (stopping.signal.aborted) throw problem("CLOSED");
      Object.assign(state, { session, era: session.era, status: undefined });
      setListing(session.listing);
      stopWhenIdle();
      return session;
    } catch (error) {
      // The next attempt finds out again which protocol the server speaks.
      state.era = undefined;
      if (stopping.signal.aborted) throw problem("CLOSED");
      if (state.last) void end(state.last);
      throw markUnavailable(toStatus(error));
    }
  }

  /** Stops a server that was not used for a while. Its next call starts it again, which is no failure. */
  function stopWhenIdle(): void {
    cancelIdleStop?.();
    if (limits.idleMs === 0 || uses > 0 || stopping.signal.aborted) return;
    cancelIdleStop = clock.after(limits.idleMs, () => {
      restarts.forget();
      const { session } = state;
      if (session) void end(session.transport, session.transport.release);
    });
  }

  /** Keeps the server from being stopped while it is idle. Returns a function that ends the use. */
  function holdOpen(): () => void {
    uses += 1;
    cancelIdleStop?.();
    return () => {
      uses -= 1;
      stopWhenIdle();
    };
  }

  /** Closes a transport, once. Resolves when nothing of it is left, or when it is left to other gateways. */
  function end(transport: OpenTransport, close = () => transport.wire.close()): Promise<void> {
    if (state.session?.transport === transport) state.session = undefined;
    const begun = endings.get(transport);
    if (begun) return begun;
    // Noted before the transport closes, because that calls this function again.
    const { promise, resolve } = Promise.withResolvers<void>();
    endings.set(transport, promise);
    const done = () => resolve(void transports.delete(transport));
    close().then(done, done);
    return promise;
  }

  /** Explains why the server cannot be used. */
  function toStatus(error: unknown): EntryStatus {
    const { last } = state;
    const status = statusOf(error);
    if (status.state === "needs_login") return { ...status, reason: `${status.reason}${loginAdvice()}` };
    if (!last?.process) return { ...status, reason: last?.ending ?? status.reason };
    const isEnding = last.ending !== undefined && (isLost(error) || !isProblem(error));
    const reason = isEnding ? last.ending : status.reason;
    return { ...status, reason: `${reason}${complaintOf(last.process.stderrText())}` };
  }

  /** Says how to log in, as the end of a sentence. */
  function loginAdvice(): string {
    if (config.transport !== "http") return "";
    const why = login?.complaint;
    const failure = why ? `; its token could not be renewed: ${hideSecrets(why)}` : "";
    const command = commandFor(["login", label]);
    return config.oauth?.grant === "client_credentials" ? failure : `${failure}; run: ${command}`;
  }

  /** Marks the server as down, for at least this time, and returns the problem. */
  function markUnavailable(status: EntryStatus, forMs = 0): Problem {
    state.status = status;
    retryAt =
      clock.monotonic() + Math.max(forMs, restarts.exhaustedFor(), restarts.delay(), limits.backoffMs);
    if (state.session) void end(state.session.transport);
    onChange();
    return problem("UNAVAILABLE", { name: `The server ${label}`, ...status });
  }

  function tooManyStarts(): string {
    const minutes = Math.round(limits.restartWindowMs / 60_000);
    const { ending, process } = state.last ?? {};
    const why = ending ? `; ${ending}${complaintOf(process?.stderrText() ?? "")}` : "";
    return `it had to be started more than ${limits.restarts} times in ${minutes} minutes${why}`;
  }

  function setListing(listing: Listing): void {
    state.listing = listing;
    onChange();
  }

  /** Limits how often a server that keeps announcing changes is listed. */
  function relistSoon(): void {
    if (cancelRelist || stopping.signal.aborted) return;
    cancelRelist = clock.after(limits.relistMs, async () => {
      if (state.session) await relist().catch(() => {});
      cancelRelist = undefined;
    });
  }

  function list(client: Client): Promise<Listing> {
    return fetchListing(client, limits, config.transport === "http");
  }

  /** Lists everything again; connects first if there is no session. */
  async function relist(): Promise<void> {
    const mayStart = await options.mayStart();
    const { session } = state;
    if (!session || !mayStart) return void (await connect());
    try {
      session.listing = await list(session.client);
    } catch (error) {
      if (!forgotSession(error, session.transport.wire)) throw error;
      void end(session.transport);
      return void (await connect());
    }
    setListing(session.listing);
  }

  return {
    state: state as Readonly<ConnectionState>,
    restarts,
    /** Uses the protocol that an earlier run has found. */
    recall: (era: PriorDiscovery | undefined) => {
      state.era = era;
    },
    connect,
    holdOpen,
    relist,
    /** Ends the session if it is still in use. */
    drop: ({ transport }: OpenSession) => void end(transport),
    markUnavailable,
    /** Milliseconds until a server that is down may be tried again; undefined while it is up. */
    retryAfterMs: () => (state.status ? Math.max(0, retryAt - clock.monotonic()) : undefined),
    toStatus,
    loginAdvice,
    /** Resolves when no process of the server is left. */
    close: async () => {
      stopping.abort();
      cancelRelist?.();
      cancelIdleStop?.();
      const release = () =>
        Promise.all([...transports].map((transport) => end(transport, transport.release)));
      await release();
      // A transport may have been opened meanwhile.
      await connecting?.catch(() => {});
      await release();
      await login?.close();
    },
  };
}

type RestartLimits = Pick<UpstreamLimits, "restarts" | "restartWindowMs" | "backoffMs">;

/** Decides when a server that failed may be started again. */
export function createRestartPolicy(
  { restarts, restartWindowMs, backoffMs: firstMs }: RestartLimits,
  now: () => number,
  random = Math.random,
) {
  let starts: number[] = [];

  /** The starts within the window. */
  function recent(): number[] {
    starts = starts.filter((at) => now() - at < restartWindowMs);
    return starts;
  }

  return {
    recent,
    /** Notes a start. The first one in the window needs no wait. */
    started: () => {
      starts = [...recent(), now()];
    },
    /** Milliseconds to wait before the next start. */
    delay: () => {
      const failures = recent().length;
      return failures === 0 ? 0 : backoffMs(failures, { firstMs, longestMs: restartWindowMs, random });
    },
    /** Milliseconds until the next start after too many; 0 if the server may be started. */
    exhaustedFor: () => {
      const times = recent();
      return times.length > restarts ? restartWindowMs - (now() - times[0]!) : 0;
    },
    /** Earlier starts no longer count. */
    forget: () => {
      starts = [];
    },
  };
}
