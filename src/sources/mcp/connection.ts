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
  /** Servers shared with other gateways. Default: each connection has its own process. */
  readonly shared?: SharedServers | undefined;
  /** Whether a person has consented to the present program. */
  mayStart(): boolean | Promise<boolean>;
  /** The limits that a person accepted for the process. */
  acceptedLimits?(): SandboxLimits | undefined;
  /** Called after a new listing or a change of status. */
  onChange(): void;
}

/** An open connection with its listing. */
export interface OpenSession extends OpenedUpstream {
  listing: Listing;
  /** The accepted limits under which it was opened. */
  readonly limits: SandboxLimits | undefined;
}

export interface ConnectionState {
  session?: OpenSession | undefined;
  /** The last listing, even without an open session. */
  listing?: Listing | undefined;
  /** Undefined while the server is usable. */
  status?: EntryStatus | undefined;
  /** The protocol that the server speaks. */
  era?: PriorDiscovery | undefined;
  last?: OpenTransport | undefined;
  /** The end of what its earlier processes wrote to stderr, each with how it ended. */
  earlier: string;
}

const EARLIER_CHARS = 16_384;

/** How often to look for a consent. */
const CONSENT_MS = 500;
/** How often to look for an operator's login at a server of people. */
const OPERATOR_MS = 30_000;

/** The connection to one server, opened on demand and reopened after a failure. */
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
  private earlierListing: Listing | undefined;

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

  protected lastListing(): Listing | undefined {
    return this.state.listing ?? this.earlierListing;
  }

  /** Called when the server asks for something in which clients may differ. */
  protected abstract onAsked(fact: AskedFact): void;

  /** Called with log messages of the server. */
  protected abstract onLog(level: LogLevel, data: unknown, logger: string | undefined): void;

  /** Sets the protocol and the listing that an earlier run found. */
  recall(era: PriorDiscovery | undefined, listing: Listing | undefined): void {
    this.state.era = era;
    this.earlierListing = listing;
  }

  /** Returns the session, or opens one first. A promise only if it has to wait. */
  connect(): OpenSession | Promise<OpenSession> {
    // Checked even while connected, because a person may revoke the consent.
    const mayStart = this.options.mayStart();
    this.dropOutdatedLimits();
    return mayStart === true && this.state.session ? this.state.session : this.enter(mayStart);
  }

  /** Ends a process whose accepted limits have changed, as soon as no call runs in it. */
  protected dropOutdatedLimits(): void {
    const { session } = this.state;
    if (!session || session.transport.running.size > 0) return;
    if (isDeepStrictEqual(session.limits, this.options.acceptedLimits?.())) return;
    this.restarts.forget();
    this.drop(session);
  }

  /** Keeps an idle server running. Returns a function that ends the hold. */
  protected holdOpen(): () => void {
    this.uses += 1;
    this.cancelIdleStop?.();
    return () => {
      this.uses -= 1;
      this.stopWhenIdle();
    };
  }

  /** Lists everything again. Connects first if necessary. */
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

  /** Ends the session if it is still the current one. */
  protected drop({ transport }: OpenSession): void {
    void this.end(transport);
  }

  /** Marks the server as down for at least this time, and returns the problem. */
  protected markUnavailable(status: EntryStatus, forMs = 0): Problem {
    this.state.status = status;
    const { clock, label, limits, onChange, toLogin } = this.options;
    // A server of people may never get a login of the operator: not a failure.
    const isWaiting = toLogin !== undefined && status.state === "needs_login";
    if (isWaiting) this.restarts.forget();
    const least = isWaiting ? OPERATOR_MS : limits.backoffMs;
    const waits = [forMs, this.restarts.exhaustedFor(), this.restarts.delay(), least];
    this.retryAt = clock.monotonic() + Math.max(...waits);
    if (this.state.session) void this.end(this.state.session.transport);
    onChange();
    return problem("UNAVAILABLE", { name: `The server ${label}`, ...status });
  }

  /** Milliseconds until an unavailable server may be retried; undefined while it is available. */
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

  /** The command or page for logging in, as the end of a sentence. */
  protected loginAdvice(): string {
    const { config, label, login } = this.options;
    if (config.transport !== "http") return "";
    const why = login?.complaint;
    const failure = why ? `; its token could not be renewed: ${hideSecrets(why)}` : "";
    const command = this.commandFor(["login", label]);
    return config.oauth?.grant === "client_credentials" ? failure : `${failure}; run: ${command}`;
  }

  /** Resolves when all processes of the server have ended. */
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
      // Loaded with the first server, which makes a start faster.
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
      // The next attempt detects the protocol again.
      this.state.era = undefined;
      if (this.stopping.signal.aborted) throw problem("CLOSED");
      if (this.state.last) void this.end(this.state.last);
      throw this.markUnavailable(this.toStatus(error));
    }
  }

  /** Stops an unused server. Its next call starts it again; this is no failure. */
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

  /** Closes a transport, once. Resolves when it has ended or other gateways still use it. */
  private end(transport: OpenTransport, close = () => transport.wire.close()): Promise<void> {
    if (this.state.session?.transport === transport) this.state.session = undefined;
    const begun = this.endings.get(transport);
    if (begun) return begun;
    // Set before the transport closes, because that calls this function again.
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
    const { config, limits } = this.options;
    return fetchListing(client, limits, config.transport === "http", this.lastListing());
  }
}

type RestartLimits = Pick<UpstreamLimits, "restarts" | "restartWindowMs" | "backoffMs">;

/** Decides when a failed server may restart. */
export function createRestartPolicy(
  { restarts, restartWindowMs, backoffMs: firstMs }: RestartLimits,
  now: () => number,
  random = Math.random,
) {
  let starts: number[] = [];

  /** Starts within the window. */
  function recent(): number[] {
    starts = starts.filter((at) => now() - at < restartWindowMs);
    return starts;
  }

  return {
    recent,
    /** Records a start. The first in the window needs no wait. */
    started: () => {
      starts = [...recent(), now()];
    },
    /** Milliseconds before the next start. */
    delay: () => {
      const failures = recent().length;
      return failures === 0 ? 0 : backoffMs(failures, { firstMs, longestMs: restartWindowMs, random });
    },
    /** Milliseconds until the next start after too many; 0 if the server may start. */
    exhaustedFor: () => {
      const times = recent();
      return times.length > restarts ? restartWindowMs - (now() - times[0]!) : 0;
    },
    /** Discards earlier starts. */
    forget: () => {
      starts = [];
    },
  };
}
