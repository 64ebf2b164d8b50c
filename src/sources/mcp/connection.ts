import { isDeepStrictEqual } from "node:util";
import type { Client, PriorDiscovery } from "@modelcontextprotocol/client";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import type { EntryStatus, LogLevel } from "../../core/nouns/entry.ts";
import type { SandboxLimits } from "../../core/nouns/server-program.ts";
import { backoffMs, sleep } from "../backoff.ts";
import { complaintOf, forgotSession, isLost, statusOf } from "./failure.ts";
import { fetchListing, type Listing } from "./listing.ts";
import type { OpenedUpstream, OpenTransport } from "./open-client.ts";
import type { AskedFact } from "./seen-client.ts";
import type { SharedServers } from "./shared-servers.ts";
import type { UpstreamLimits, UpstreamTarget } from "./upstream-target.ts";

export interface ConnectionOptions extends UpstreamTarget {
  /** Servers that other gateways use too. Without them, each connection has a process of its own. */
  readonly shared?: SharedServers | undefined;
  /** Whether a person has consented to the program as it is now. */
  mayStart(): boolean | Promise<boolean>;
  /** The limits that a person has accepted for the process. */
  acceptedLimits?(): SandboxLimits | undefined;
  /** Called when a listing arrives or the status changes. */
  onChange(): void;
}

/** An open connection with the listing that it gave. */
export interface OpenSession extends OpenedUpstream {
  listing: Listing;
  /** The accepted limits that it was opened with. */
  readonly limits: SandboxLimits | undefined;
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
  /** The end of what its earlier processes wrote to stderr, each with how it ended. */
  earlier: string;
}

const EARLIER_CHARS = 16_384;

/** How often a consent is looked for. */
const CONSENT_MS = 500;
/** How often a login of the operator is looked for at a server of people. */
const OPERATOR_MS = 30_000;

/** The connection to one server: opened when needed, opened again after a failure. */
export abstract class Connection {
  protected readonly options: ConnectionOptions;
  private readonly commandFor: (words: readonly string[]) => string;
  private readonly noConsent: EntryStatus;
  protected readonly restarts: ReturnType<typeof createRestartPolicy>;
  readonly state: ConnectionState;
  private readonly stopping = new AbortController();
  private readonly transports = new Set<OpenTransport>();
  private readonly endings = new WeakMap<OpenTransport, Promise<void>>();
  private connecting: Promise<OpenSession> | undefined;
  private retryAt = 0;
  private cancelRelist: (() => void) | undefined;
  private uses = 0;
  private cancelIdleStop: (() => void) | undefined;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.commandFor = options.commandFor ?? ((words) => `keyhole ${words.join(" ")}`);
    this.noConsent = {
      state: "quarantined",
      reason: `a person has to approve what it runs; the user has to type: ${this.commandFor(["approve", options.label])}`,
    };
    this.restarts = createRestartPolicy(options.limits, options.clock.monotonic);
    this.state = { status: options.mayStart() === true ? undefined : this.noConsent, earlier: "" };
  }

  /** Called when the server asks for something in which clients may differ. */
  protected abstract onAsked(fact: AskedFact): void;

  /** Called with the messages that the server logs. */
  protected abstract onLog(level: LogLevel, data: unknown, logger: string | undefined): void;

  /** Uses the protocol that an earlier run has found. */
  recall(era: PriorDiscovery | undefined): void {
    this.state.era = era;
  }

  /** Returns the session, and opens one first if there is none. A promise only if there is something to wait for. */
  connect(): OpenSession | Promise<OpenSession> {
    // Asked again while connected, because a person may take the consent back.
    const mayStart = this.options.mayStart();
    this.dropUnlimited();
    return mayStart === true && this.state.session ? this.state.session : this.enter(mayStart);
  }

  /** Ends a process that other limits were accepted for since, as soon as no call runs in it. */
  protected dropUnlimited(): void {
    const { session } = this.state;
    if (!session || session.transport.running.size > 0) return;
    if (isDeepStrictEqual(session.limits, this.options.acceptedLimits?.())) return;
    this.restarts.forget();
    this.drop(session);
  }

  /** Keeps the server from being stopped while it is idle. Returns a function that ends the use. */
  protected holdOpen(): () => void {
    this.uses += 1;
    this.cancelIdleStop?.();
    return () => {
      this.uses -= 1;
      this.stopWhenIdle();
    };
  }

  /** Lists everything again; connects first if there is no session. */
  async relist(): Promise<void> {
    const mayStart = await this.options.mayStart();
    const { session } = this.state;
    if (!session || !mayStart) return void (await this.connect());
    try {
      session.listing = await this.list(session.client);
    } catch (error) {
      if (!forgotSession(error, session.transport.wire)) throw error;
      void this.end(session.transport);
      return void (await this.connect());
    }
    this.setListing(session.listing);
  }

  /** Ends the session if it is still in use. */
  protected drop({ transport }: OpenSession): void {
    void this.end(transport);
  }

  /** Marks the server as down, for at least this time, and returns the problem. */
  protected markUnavailable(status: EntryStatus, forMs = 0): Problem {
    this.state.status = status;
    const { clock, label, limits, onChange, toLogin } = this.options;
    // A server of people may never get a login of the operator, which is no failure.
    const isWaiting = toLogin !== undefined && status.state === "needs_login";
    if (isWaiting) this.restarts.forget();
    const least = isWaiting ? OPERATOR_MS : limits.backoffMs;
    const waits = [forMs, this.restarts.exhaustedFor(), this.restarts.delay(), least];
    this.retryAt = clock.monotonic() + Math.max(...waits);
    if (this.state.session) void this.end(this.state.session.transport);
    onChange();
    return problem("UNAVAILABLE", { name: `The server ${label}`, ...status });
  }

  /** Milliseconds until a server that is down may be tried again; undefined while it is up. */
  retryAfterMs(): number | undefined {
    return this.state.status ? Math.max(0, this.retryAt - this.options.clock.monotonic()) : undefined;
  }

  /** Explains why the server cannot be used. */
  protected toStatus(error: unknown): EntryStatus {
    const { last } = this.state;
    const status = statusOf(error);
    if (status.state === "needs_login") return { ...status, reason: `${status.reason}${this.loginAdvice()}` };
    if (!last?.process) return { ...status, reason: last?.ending ?? status.reason };
    const isEnding = last.ending !== undefined && (isLost(error) || !isProblem(error));
    const reason = isEnding ? last.ending : status.reason;
    return { ...status, reason: `${reason}${complaintOf(last.process.stderrText())}` };
  }

  /** Says how to log in, as the end of a sentence. */
  protected loginAdvice(): string {
    const { config, label, login } = this.options;
    if (config.transport !== "http") return "";
    const why = login?.complaint;
    const failure = why ? `; its token could not be renewed: ${hideSecrets(why)}` : "";
    const command = this.commandFor(["login", label]);
    return config.oauth?.grant === "client_credentials" ? failure : `${failure}; run: ${command}`;
  }

  /** Resolves when no process of the server is left. */
  async close(): Promise<void> {
    this.stopping.abort();
    this.cancelRelist?.();
    this.cancelIdleStop?.();
    const release = () =>
      Promise.all([...this.transports].map((transport) => this.end(transport, transport.release)));
    await release();
    // A transport may have been opened meanwhile.
    await this.connecting?.catch(() => {});
    await release();
    await this.options.login?.close();
  }

  private async enter(mayStart: boolean | Promise<boolean>): Promise<OpenSession> {
    if (!(await mayStart)) throw this.markUnavailable(this.noConsent, CONSENT_MS);
    if (this.state.status === this.noConsent) this.state.status = undefined;
    if (this.state.session) return this.state.session;
    this.connecting ??= this.open().finally(() => {
      this.connecting = undefined;
    });
    return this.connecting;
  }

  private async open(): Promise<OpenSession> {
    if (this.restarts.exhaustedFor() > 0) {
      throw this.markUnavailable({ state: "server_down", reason: this.tooManyStarts() });
    }
    await sleep(this.restarts.delay(), this.options.clock, this.stopping.signal, true);
    if (this.stopping.signal.aborted) throw problem("CLOSED");
    this.restarts.started();
    const limits = this.options.acceptedLimits?.();
    try {
      // Loaded with the first server that is opened, which makes a start quicker.
      const { openClient } = await import("./open-client.ts");
      // The gateway may have been closed meanwhile.
      if (this.stopping.signal.aborted) throw problem("CLOSED");
      const opened = await (this.options.shared?.open ?? openClient)({
        ...this.options,
        era: this.state.era,
        signal: this.stopping.signal,
        onLog: (...message) => this.onLog(...message),
        onAsked: (fact) => this.onAsked(fact),
        onListChanged: () => this.relistSoon(),
        onTransport: (transport) => {
          const { last, earlier } = this.state;
          const said = last?.process
            ? `${last.process.stderrText()}[${last.ending ?? "it was ended"}]\n`
            : "";
          this.state.earlier = `${earlier}${said}`.slice(-EARLIER_CHARS);
          this.state.last = transport;
          this.transports.add(transport);
        },
        onClosed: (transport) => void this.end(transport),
      });
      const session: OpenSession = { ...opened, limits, listing: await this.list(opened.client) };
      if (this.stopping.signal.aborted) throw problem("CLOSED");
      Object.assign(this.state, { session, era: session.era, status: undefined });
      this.setListing(session.listing);
      this.stopWhenIdle();
      return session;
    } catch (error) {
      // The next attempt finds out again which protocol the server speaks.
      this.state.era = undefined;
      if (this.stopping.signal.aborted) throw problem("CLOSED");
      if (this.state.last) void this.end(this.state.last);
      throw this.markUnavailable(this.toStatus(error));
    }
  }

  /** Stops a server that was not used for a while. Its next call starts it again, which is no failure. */
  private stopWhenIdle(): void {
    this.cancelIdleStop?.();
    const { clock, limits } = this.options;
    if (limits.idleMs === 0 || this.uses > 0 || this.stopping.signal.aborted) return;
    this.cancelIdleStop = clock.after(limits.idleMs, () => {
      this.restarts.forget();
      const { session } = this.state;
      if (session) void this.end(session.transport, session.transport.release);
    });
  }

  /** Closes a transport, once. Resolves when nothing of it is left, or when it is left to other gateways. */
  private end(transport: OpenTransport, close = () => transport.wire.close()): Promise<void> {
    if (this.state.session?.transport === transport) this.state.session = undefined;
    const begun = this.endings.get(transport);
    if (begun) return begun;
    // Noted before the transport closes, because that calls this function again.
    const { promise, resolve } = Promise.withResolvers<void>();
    this.endings.set(transport, promise);
    const done = () => resolve(void this.transports.delete(transport));
    close().then(done, done);
    return promise;
  }

  private tooManyStarts(): string {
    const { restarts, restartWindowMs } = this.options.limits;
    const minutes = Math.round(restartWindowMs / 60_000);
    const { ending, process } = this.state.last ?? {};
    const why = ending ? `; ${ending}${complaintOf(process?.stderrText() ?? "")}` : "";
    return `it had to be started more than ${restarts} times in ${minutes} minutes${why}`;
  }

  private setListing(listing: Listing): void {
    this.state.listing = listing;
    this.options.onChange();
  }

  /** Limits how often a server that keeps announcing changes is listed. */
  private relistSoon(): void {
    if (this.cancelRelist || this.stopping.signal.aborted) return;
    this.cancelRelist = this.options.clock.after(this.options.limits.relistMs, async () => {
      if (this.state.session) await this.relist().catch(() => {});
      this.cancelRelist = undefined;
    });
  }

  private list(client: Client): Promise<Listing> {
    return fetchListing(client, this.options.limits, this.options.config.transport === "http");
  }
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
