import { setTimeout as sleep } from "node:timers/promises";
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import type { CallingClient, LogLevel } from "../../core/nouns/entry.ts";
import { Connection, type ConnectionOptions, type OpenSession } from "./connection.ts";
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
import { OPERATOR, type ServerLogin } from "./login/server-login.ts";
import { type CallingPerson, People } from "./people.ts";
import { type AskedFact, type Asking, type SeenClient, seenBy, startsInFolder } from "./seen-client.ts";
import { createSlots } from "./slots.ts";

export interface UpstreamCall<T> {
  /** Whether running it twice is harmless. */
  readonly repeatable: boolean;
  /** The calling client, which receives the server's log messages during the call. */
  readonly caller?: CallingClient | undefined;
  /** The caller, for a server with separate logins. */
  readonly person?: CallingPerson | undefined;
  /** The server, for the text of its questions. */
  readonly asking?: Asking;
  /** Whether the call depends on the folder of its client. */
  readonly usesFolder?: boolean;
  /** Throws a problem if the server no longer offers the entry as listed. */
  check(listing: Listing): void;
  work(client: Client, options: RequestOptions): Promise<T>;
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
  /** The last output on stderr, that of earlier processes before it, without secrets of the config. */
  readonly stderr: string;
}

/** A server processes the answer with the roots while it takes calls: a call sent at once would not see them. */
const TAKE_ROOTS_MS = 150;
/** Idle processes of one server for separate clients. */
const MOST_SIDES = 32;
/** How long a person's idle connection stays open. */
const PERSON_IDLE_MS = 10 * 60_000;

/**
 * One server: connected on demand, restarted after a failure, isolated from other servers. All clients share one
 * process until the server asks for something in which they differ; from then on each kind of client has its own
 * process, a side.
 */
export class Upstream extends Connection {
  /** The facts that the server has asked of clients, in this or an earlier run. */
  readonly asked: Set<AskedFact>;
  /** For a side: the upstream that it belongs to. */
  private readonly whole: Upstream | undefined;
  private readonly sides = new Map<string, Upstream>();
  /** Set for a server with separate logins. */
  readonly people: People<Upstream> | undefined;
  /** The clients that have called a side. */
  private readonly clients = new Set<object>();
  private readonly slots: ReturnType<typeof createSlots>;
  private readonly running = new Set<UpstreamCall<unknown>>();
  /** Timeouts in a row of one session. */
  private timeouts = 0;
  private hanging: OpenSession | undefined;

  constructor(options: ConnectionOptions, whole?: Upstream) {
    super(options);
    this.whole = whole;
    this.asked = whole?.asked ?? new Set();
    const { config, cwd } = options;
    if (config.transport === "stdio" && startsInFolder(config, cwd)) this.asked.add("folder");
    this.slots = createSlots(options.label, options.limits.concurrency, options.limits.queue);
    const { toLogin } = options;
    this.people = toLogin && new People({ ...options, toLogin, open: (login) => this.openPerson(login) });
  }

  /** Connects ahead of a call, unless the server is down, waits for a consent, or starts for each client. */
  warm(): void {
    if (!this.state.status && this.asked.size === 0 && !this.people)
      Promise.resolve()
        .then(() => this.connect())
        .catch(() => {});
  }

  /** Lists again, even if the server failed too often for automatic attempts. */
  async retry(): Promise<void> {
    this.restarts.forget();
    const { session } = this.state;
    await this.relist().catch((error: unknown) => {
      throw session ? this.toCallProblem(error, session) : error;
    });
  }

  /** Ends the connection, with its process, and opens a new one. */
  async restart(): Promise<void> {
    this.restarts.forget();
    const { session } = this.state;
    if (session) this.drop(session);
    await this.closeSides();
    await this.connect();
  }

  override async close(): Promise<void> {
    await Promise.all([this.closeSides(), this.people?.close(), super.close()]);
  }

  /** Allows calls again at a server that refused an earlier login. */
  forgetRefusal(): void {
    if (this.state.status?.state !== "needs_login") return;
    this.restarts.forget();
    this.state.status = undefined;
  }

  /** Runs a call over the connection of its person, on the side of its client. */
  async run<T>(call: UpstreamCall<T>, signal: AbortSignal): Promise<T> {
    const { caller, person } = call;
    const isOther = person?.principal.id !== OPERATOR;
    if (this.people && isOther) return this.people.run(call, signal, (side) => side.run(call, signal));
    if (!caller) return this.runHere(call, signal);
    // Sides end their own processes.
    this.dropOutdatedLimits();
    if (call.usesFolder) this.onAsked("folder");
    for (;;) {
      const before = this.asked.size;
      const side = await this.sideFor(caller);
      // A server asks right after its start for what it needs, and clients may differ in that.
      if (!side.state.session && !side.state.status) {
        await untilAborted(Promise.resolve(side.connect()), signal);
        if (side.options.seen?.roots) await sleep(TAKE_ROOTS_MS);
      }
      if (this.asked.size === before) return side.runHere(call, signal);
    }
  }

  private async sideFor(caller: CallingClient): Promise<Upstream> {
    const { config } = this.options;
    if (this.asked.size === 0) return this;
    const { folder, ...others } = await seenBy(this.asked, caller);
    const isPlaced = config.transport === "stdio" && config.cwd === undefined && folder !== undefined;
    const seen = isPlaced ? { ...others, folder } : others;
    if (seen.lacks.length === 0 && !isPlaced && !seen.roots) return this;
    const key = JSON.stringify(seen);
    const side =
      this.sides.get(key) ?? (await this.withChangedRoots(caller, seen, key)) ?? this.openSide(seen);
    this.sides.set(key, side);
    side.clients.add(caller.connection ?? caller);
    // Only its own calls retry a side that was down.
    if (side.retryAfterMs() === 0) side.state.status = undefined;
    return side;
  }

  /** The side of this single client, after the server was told of the client's new roots. */
  private async withChangedRoots(
    { connection }: CallingClient,
    seen: SeenClient,
    nextKey: string,
  ): Promise<Upstream | undefined> {
    const others = (one: SeenClient) => JSON.stringify({ ...one, roots: [] });
    const [key, side] =
      [...this.sides].find(
        ([, { options, clients }]) =>
          clients.size === 1 && clients.has(connection!) && others(options.seen!) === others(seen),
      ) ?? [];
    const { session } = side?.state ?? {};
    if (!side || !session?.transport.changeRoots(seen.roots)) return undefined;
    side.options.seen!.roots = seen.roots;
    this.sides.delete(key!);
    this.sides.set(nextKey, side);
    await session.client.sendRootsListChanged().catch(() => {});
    await sleep(TAKE_ROOTS_MS);
    return side;
  }

  private openSide(seen: SeenClient): Upstream {
    const idle = [...this.sides].find(([, side]) => !side.state.session && side.running.size === 0);
    if (this.sides.size >= MOST_SIDES && idle) this.sides.delete(idle[0]);
    const { options } = this;
    const side: Upstream = new Upstream(
      {
        ...options,
        ...(seen.folder !== undefined && { cwd: seen.folder }),
        seen,
        onChange: () => {
          // Other clients may see more tools.
          if (seen.lacks.length > 0 || !side.state.listing) return;
          this.state.listing = side.state.listing;
          options.onChange();
        },
      },
      this,
    );
    side.recall(this.state.era, this.lastListing());
    return side;
  }

  /** The connection of a person. Its listing is not shown to others, unless none existed before. */
  private openPerson(login: ServerLogin): Upstream {
    const { options } = this;
    const { limits } = options;
    const side: Upstream = new Upstream(
      {
        ...options,
        login,
        toLogin: undefined,
        limits: { ...limits, idleMs: limits.idleMs || PERSON_IDLE_MS },
        onChange: () => {
          if (this.state.listing || !side.state.listing) return;
          this.state.listing = side.state.listing;
          options.onChange();
        },
      },
      this,
    );
    side.recall(this.state.era, this.lastListing());
    return side;
  }

  private async closeSides(): Promise<void> {
    const sides = [...this.sides.values()];
    this.sides.clear();
    await Promise.all(sides.map((side) => side.close()));
  }

  protected onAsked(fact: AskedFact): void {
    if (this.asked.has(fact)) return;
    this.asked.add(fact);
    (this.whole ?? this).options.onChange();
  }

  private async runHere<T>(call: UpstreamCall<T>, signal: AbortSignal): Promise<T> {
    const slot = this.slots.take(signal);
    const release = slot instanceof Promise ? await slot : slot;
    const endUse = this.holdOpen();
    this.running.add(call);
    try {
      return await this.attempt(call, signal);
    } catch (error) {
      if (!call.repeatable || signal.aborted || !isProblem(error) || error.code !== "UPSTREAM_LOST")
        throw error;
      return await this.attempt(call, signal);
    } finally {
      this.running.delete(call);
      endUse();
      release();
    }
  }

  diagnostics(): UpstreamDiagnostics {
    const { session, last, earlier } =
      [this, ...this.sides.values()].find(({ state }) => state.session)?.state ?? this.state;
    return {
      connected: session !== undefined,
      pid: session?.transport.process?.pid ?? undefined,
      protocol: session?.era.kind,
      starts: this.restarts.recent().length,
      running: this.slots.running(),
      waiting: this.slots.waiting(),
      invalidLines: last?.process?.invalidLines ?? 0,
      stderr: hideSecrets(`${earlier}${last?.process?.stderrText() ?? ""}`),
    };
  }

  private async attempt<T>(call: UpstreamCall<T>, signal: AbortSignal, mayReopen = true): Promise<T> {
    // A server that is down is not called, even if the catalog does not show it yet.
    const { status } = this.state;
    if (status) throw problem("UNAVAILABLE", { name: `The server ${this.options.label}`, ...status });
    const connected = this.connect();
    const session = connected instanceof Promise ? await untilAborted(connected, signal) : connected;
    this.checkOffer(call, session);
    session.transport.running.add(call);
    try {
      const result = await call.work(session.client, { signal, timeout: this.options.limits.totalMs });
      this.timeouts = 0;
      return result;
    } catch (error) {
      if (signal.aborted) {
        this.noteTimeout(session, signal.reason);
        throw signal.reason;
      }
      if (mayReopen && forgotSession(error, session.transport.wire)) {
        this.drop(session);
        return this.attempt(call, signal, false);
      }
      throw this.toCallProblem(error, session);
    } finally {
      session.transport.running.delete(call);
    }
  }

  private checkOffer({ check }: UpstreamCall<unknown>, { listing }: OpenSession): void {
    const { lacks = [] } = this.options.seen ?? {};
    try {
      check(listing);
    } catch (error) {
      if (lacks.length === 0 || !isProblem(error)) throw error;
      const reason = `the server offers it only to clients with ${lacks.join(", ")}, and this client has none`;
      throw problem("UNAVAILABLE", { name: `A tool of ${this.options.label}`, state: "server_down", reason });
    }
  }

  private toCallProblem(error: unknown, { transport: { ending, process } }: OpenSession): Problem {
    const server = this.options.label;
    if (isOutOfReach(error)) return this.markUnavailable(this.toStatus(error));
    if (isProblem(error) && !wasCut(error)) return error;
    if (isLost(error) || (ending !== undefined && !process)) {
      const why = ending ?? failureReason(error);
      const reason = `${why}${complaintOf(process?.stderrText() ?? "")}`;
      return problem("UPSTREAM_LOST", { server, reason }, { server, reason });
    }
    if (wantsLogin(error)) return this.markUnavailable(this.toStatus(error));
    const scope = scopeWanted(error);
    if (scope !== undefined) {
      const reason = `${scope}${this.loginAdvice()}`;
      return problem("LOGIN_NEEDED", { name: `The server ${server}`, status: 403, reason }, { reason });
    }
    const reason = failureReason(error);
    return problem("UPSTREAM_ERROR", { server, reason }, { server });
  }

  /** Several timeouts in a row mean that the server hangs: end it and wait. */
  private noteTimeout(session: OpenSession, reason: unknown): void {
    if (!isProblem(reason) || reason.code !== "TIMEOUT" || this.state.session !== session) return;
    this.timeouts = this.hanging === session ? this.timeouts + 1 : 1;
    this.hanging = session;
    if (this.timeouts < this.options.limits.breakerTimeouts) return;
    const words = `${this.timeouts} calls in a row were not answered in time`;
    const forMs = this.options.limits.breakerMs * (0.75 + Math.random() / 2);
    this.markUnavailable({ state: "server_down", reason: words }, forMs);
  }

  /** Log messages name no call, so pass them on only while a single call runs. */
  protected onLog(level: LogLevel, data: unknown, logger: string | undefined): void {
    const [only] = this.running;
    const everybody = this.state.session?.transport.running;
    if (only?.caller && this.running.size === 1 && everybody?.size === 1 && everybody.has(only))
      only.caller.log(level, hideSecrets(typeof data === "string" ? toVisibleText(data) : data), logger);
  }
}
