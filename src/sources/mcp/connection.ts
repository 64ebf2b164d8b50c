import type { Client, PriorDiscovery } from "@modelcontextprotocol/client";
import { hideSecrets } from "../../net/known-secrets.ts";
import type { EntryStatus, LogLevel } from "../../schema/entry.ts";
import { isProblem, type Problem, problem } from "../../schema/problem.ts";
import type { Clock } from "../../util/clock.ts";
import { sleep } from "../../util/sleep.ts";
import type { ServerConfig } from "./config/server-config.ts";
import type { LaunchOptions } from "./config/to-launch.ts";
import { forgotSession, isLost, lastComplaint, toStatus } from "./failure.ts";
import { fetchListing, type Listing } from "./listing.ts";
import type { ServerLogin } from "./login/server-login.ts";
import type { Made, Opened } from "./open-client.ts";
import { createRestartPolicy } from "./restart-policy.ts";
import type { SharedServers } from "./shared-servers.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";

export interface ConnectionOptions extends LaunchOptions {
  readonly config: ServerConfig;
  readonly limits: UpstreamLimits;
  /** Servers that other gateways use too. Without them, each connection has a process of its own. */
  readonly shared: SharedServers | undefined;
  /** Whether a person has consented to the program as it is now. */
  mayStart(): boolean | Promise<boolean>;
  readonly clock: Clock;
  /** Access to an HTTP server; undefined for a server that runs as a child process. */
  readonly login?: ServerLogin | undefined;
  /** Called when a listing arrives or the status changes. */
  onChange(): void;
  onLog(level: LogLevel, data: unknown, logger: string | undefined): void;
}

/** An open connection with the listing that it gave. */
export interface Session extends Opened {
  listing: Listing;
}

/** The connection to one server: opened when needed, opened again after a failure. */
export interface Connection {
  readonly session: Session | undefined;
  /** The last listing, also while no session is open. */
  readonly listing: Listing | undefined;
  /** Undefined while the server can be used. */
  readonly status: EntryStatus | undefined;
  /** The protocol that the server speaks. */
  readonly era: PriorDiscovery | undefined;
  /** The transport that was opened last. */
  readonly last: Made | undefined;
  /** Starts within the restart window. */
  readonly starts: number;
  /** Uses the protocol that an earlier run has found. */
  recall(era: PriorDiscovery | undefined): void;
  /** Returns the session, and opens one first if there is none. A promise only if there is something to wait for. */
  connect(): Session | Promise<Session>;
  /** Lists everything again; connects first if there is no session. */
  relist(): Promise<void>;
  /** Keeps the server from being ended for want of use. Returns a function that ends the use. */
  use(): () => void;
  /** Ends the session if it is still in use. */
  drop(session: Session): void;
  /** Marks the server as down, for at least this time, and returns the problem. */
  goDown(status: EntryStatus, forMs?: number): Problem;
  /** How long a server that is down has to rest; undefined while it is up. */
  restMs(): number | undefined;
  /** Earlier failures no longer count. */
  forgetFailures(): void;
  /** Explains why the server cannot be used. */
  explain(error: unknown): EntryStatus;
  /** Tells how to log in, as the end of a sentence. */
  loginAdvice(): string;
  /** Resolves when no process of the server is left. */
  close(): Promise<void>;
}

/** How often a consent is looked for. */
const CONSENT_MS = 500;
const WAITS: EntryStatus = {
  state: "quarantined",
  reason: "a person has to consent to what it runs before it starts",
};

export function createConnection(options: ConnectionOptions): Connection {
  const { label, config, limits, clock, login, onChange } = options;
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
  let status: EntryStatus | undefined = options.mayStart() === true ? undefined : WAITS;
  let restUntil = 0;
  let listing: Listing | undefined;
  let era: PriorDiscovery | undefined;
  let cancelRelist: (() => void) | undefined;
  let uses = 0;
  let cancelRest: (() => void) | undefined;

  function connect(): Session | Promise<Session> {
    // Asked again while connected, because a person may take the consent back.
    const mayStart = options.mayStart();
    return mayStart === true && session ? session : enter(mayStart);
  }

  async function enter(mayStart: boolean | Promise<boolean>): Promise<Session> {
    if (!(await mayStart)) throw goDown(WAITS, CONSENT_MS);
    if (status === WAITS) status = undefined;
    if (session) return session;
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
      // Loaded with the first server that is opened, which makes a start quicker.
      const { openClient } = await import("./open-client.ts");
      // The gateway may have been closed meanwhile.
      if (stopping.signal.aborted) throw problem("CLOSED");
      const opened = await (options.shared?.open ?? openClient)({
        label,
        config,
        variables: options.variables,
        environment: options.environment,
        cwd: options.cwd,
        login,
        era,
        clock,
        signal: stopping.signal,
        ...limits,
        onListChanged: relistSoon,
        onLog: options.onLog,
        onMade: (made) => {
          last = made;
          transports.add(made);
        },
        onClosed: (made) => void end(made),
      });
      const next: Session = { ...opened, listing: await list(opened.client) };
      if (stopping.signal.aborted) throw problem("CLOSED");
      session = next;
      era = next.era;
      status = undefined;
      setListing(next.listing);
      restSoon();
      return next;
    } catch (error) {
      // The next attempt finds out again which protocol the server speaks.
      era = undefined;
      if (stopping.signal.aborted) throw problem("CLOSED");
      if (last) void end(last);
      throw goDown(explain(error));
    }
  }

  /** Ends a server that nobody has used for a while. Its next call starts it again, which is no failure. */
  function restSoon(): void {
    cancelRest?.();
    if (limits.idleMs === 0 || uses > 0 || stopping.signal.aborted) return;
    cancelRest = clock.after(limits.idleMs, () => {
      restarts.forget();
      if (session) void end(session.made, session.made.release);
    });
  }

  function use(): () => void {
    uses += 1;
    cancelRest?.();
    return () => {
      uses -= 1;
      restSoon();
    };
  }

  /** Closes a transport, once. Resolves when nothing of it is left, or when it is left to others. */
  function end(made: Made, close = () => made.transport.close()): Promise<void> {
    if (session?.made === made) session = undefined;
    const known = endings.get(made);
    if (known) return known;
    const { promise, resolve } = Promise.withResolvers<void>();
    endings.set(made, promise);
    const done = () => {
      transports.delete(made);
      resolve();
    };
    close().then(done, done);
    return promise;
  }

  function explain(error: unknown): EntryStatus {
    const ending = last?.ending;
    const known = toStatus(error);
    if (known.state === "needs_login") return { ...known, reason: `${known.reason}${loginAdvice()}` };
    if (!last?.process) return ending === undefined ? known : { ...known, reason: ending };
    const reason = ending !== undefined && (isLost(error) || !isProblem(error)) ? ending : known.reason;
    return { ...known, reason: `${reason}${lastComplaint(last.process.stderrText())}` };
  }

  function loginAdvice(): string {
    if (config.transport !== "http") return "";
    const why = login?.complaint;
    const told = why ? `; its token could not be renewed: ${hideSecrets(why)}` : "";
    return config.oauth?.grant === "client_credentials" ? told : `${told}; run: keyhole login ${label}`;
  }

  function goDown(next: EntryStatus, forMs = 0): Problem {
    status = next;
    restUntil =
      clock.monotonic() + Math.max(forMs, restarts.exhaustedFor(), restarts.delay(), limits.backoffMs);
    if (session) void end(session.made);
    onChange();
    return problem("UNAVAILABLE", { name: `The server ${label}`, ...next });
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

  /** Limits how often a server that keeps announcing changes is listed. */
  function relistSoon(): void {
    if (cancelRelist || stopping.signal.aborted) return;
    cancelRelist = clock.after(limits.relistMs, () => {
      void relist()
        .catch(() => {})
        .finally(() => {
          cancelRelist = undefined;
        });
    });
  }

  function list(client: Client): Promise<Listing> {
    return fetchListing(client, limits, config.transport === "http");
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

  return {
    get session() {
      return session;
    },
    get listing() {
      return listing;
    },
    get status() {
      return status;
    },
    get era() {
      return era;
    },
    get last() {
      return last;
    },
    get starts() {
      return restarts.recent;
    },
    recall: (known) => {
      era = known;
    },
    connect,
    use,
    relist: async () => {
      if (session && (await options.mayStart())) return relist();
      await connect();
    },
    drop: ({ made }) => void end(made),
    goDown,
    restMs: () => (status ? Math.max(0, restUntil - clock.monotonic()) : undefined),
    forgetFailures: restarts.forget,
    explain,
    loginAdvice,
    close: async () => {
      stopping.abort();
      cancelRelist?.();
      cancelRest?.();
      const release = () => Promise.all([...transports].map((made) => end(made, made.release)));
      await release();
      // A transport may have been opened meanwhile.
      await connecting?.catch(() => {});
      await release();
      await login?.close();
    },
  };
}
