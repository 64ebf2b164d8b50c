import { type Problem, problem } from "../../base/problems/problem.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { lazy } from "../../base/util/lazy.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import type { EntryDraft, EntryStatus } from "../../core/nouns/entry.ts";
import { countDrafts, type Freshness, type SourceContent } from "../../core/nouns/source.ts";
import { followSource, type Reading } from "../follow-source.ts";
import { isolationFault } from "../isolation/isolation.ts";
import { deniedWrite } from "../isolation/propose-limits.ts";
import { type HttpConfig, isPersonal, personNamesIn } from "./config/server-config.ts";
import { toIsolatedServer, toServerProgram } from "./config/server-program.ts";
import type { DraftOptions } from "./entry-request.ts";
import type { Listing } from "./listing.ts";
import type { CachedListing, ListingCache } from "./listing-cache.ts";
import type { LogInOptions } from "./login/log-in.ts";
import type { PersonServer } from "./login/login-links.ts";
import type { Logins } from "./login/logins.ts";
import { OPERATOR, ServerLogin } from "./login/server-login.ts";
import { allowedTools, loginTool, placeholderContent, toDomain, toFingerprint } from "./server-content.ts";
import { listInTurn } from "./slots.ts";
import type { McpSourceOptions } from "./source-options.ts";
import { toDrafts } from "./to-drafts.ts";
import { Upstream, type UpstreamDiagnostics } from "./upstream.ts";
import type { UpstreamTarget } from "./upstream-target.ts";

/** One server with its options. */
export type FollowUpstreamOptions = UpstreamTarget &
  McpSourceOptions & { readonly logins: Logins; readonly cache: ListingCache | undefined };

/** State of an upstream server and of its listing. */
export interface McpDiagnostics extends UpstreamDiagnostics {
  readonly label: string;
  readonly status: EntryStatus | undefined;
  /** Milliseconds since 1970; undefined if the server was never listed. */
  readonly listedAt: number | undefined;
  /** Whether the current listing is from an earlier start. */
  readonly fromCache: boolean;
  readonly entries: number;
  readonly warnings: readonly string[];
}

const STARTING: EntryStatus = { state: "starting", reason: "it is still starting; try again in a moment" };

/**
 * Whether a search waits for the first listing of a server without a stored one: `awaited` until it arrives or takes
 * too long (`slow`). A stopped server is not awaited.
 */
type FirstListing = "not awaited" | "awaited" | "slow" | "stopped";

interface ShownServer {
  readonly listing: Listing | undefined;
  readonly status: EntryStatus | undefined;
  readonly issuer: string | undefined;
  /** Computed only for a comparison. */
  readonly fingerprint: () => string;
  readonly content: SourceContent;
}

const DAY_MS = 86_400_000;

/** One run of a server, from its cached listing to the end of its processes. */
export class FollowedUpstream {
  private readonly options: FollowUpstreamOptions;
  private readonly login: ServerLogin | undefined;
  private readonly upstream: Upstream;
  private readonly followed: ReturnType<typeof followSource>;
  private onChange = () => {};
  /** The listing as stored for the next start. */
  private stored: CachedListing | undefined;
  private shown: ShownServer | undefined;
  private writing: Promise<void> = Promise.resolve();
  private issuer: string | undefined;
  private wait: FirstListing = "not awaited";
  private stopWaiting = () => {};

  constructor(options: FollowUpstreamOptions) {
    this.options = options;
    const { label, config, clock, mayStart, links, isolation } = options;
    const program = () => toServerProgram(label, config, options);
    const loginOf = (person?: string) =>
      config.transport === "http"
        ? new ServerLogin({ ...options, config, person, maxBytes: options.limits.maxLineBytes })
        : undefined;
    this.login = loginOf(isPersonal(config) ? OPERATOR : undefined);
    this.upstream = new Upstream({
      ...options,
      login: this.login,
      toLogin: isPersonal(config) ? (person) => loginOf(person)! : undefined,
      mayStart: () => mayStart?.(program()) ?? true,
      ...(isolation?.accepted && { acceptedLimits: () => isolation.accepted?.(program()) }),
      onChange: () => this.onChange(),
    });
    if (config.transport === "http" && config.login === "person") links?.register(this.personServer(config));
    this.followed = followSource({
      clock,
      ttlMs: options.ttlMs ?? DAY_MS,
      retryAfterMs: () => this.upstream.retryAfterMs(),
      restore: () => this.restore(),
      read: ({ signal }) => this.read(signal),
      watch: ({ found }) => {
        this.onChange = () => found(this.toReading());
        this.wait = "not awaited";
        return () => this.close();
      },
    });
  }

  private personServer(config: HttpConfig): PersonServer {
    const { login, upstream, options } = this;
    return {
      label: options.label,
      origin: URL.parse(config.url)?.origin ?? "",
      fields: personNamesIn(config.headers),
      isAt: (server) => server === login?.server,
      loginOf: (person) => (person === OPERATOR ? login! : upstream.people!.loginOf(person)),
      // The first login lists a server that could not be listed before.
      onLogin: (person) => {
        if (!this.currentListing()) upstream.people!.connect(person);
      },
    };
  }

  contents(signal: AbortSignal, onFailed?: (error: unknown) => void): AsyncGenerator<SourceContent, void> {
    return this.followed.contents(signal, onFailed);
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    await this.followed.refresh(signal);
    const { status } = this.upstream.state;
    if (status && this.needsConsent())
      throw problem("UNAVAILABLE", { name: `The server ${this.options.label}`, ...status });
  }

  freshness(): Freshness {
    const freshness = this.followed.freshness();
    const { status } = this.upstream.state;
    if (status) {
      const isWaiting = this.needsConsent() || status.state === "needs_login";
      return {
        ...freshness,
        state: isWaiting ? "waiting" : "failed",
        isFresh: false,
        lastError: status.reason,
      };
    }
    // The placeholder of a starting server is no listing, so it has no age.
    if (this.isStarting()) return { state: "starting", count: 0, isFresh: false };
    return this.keptSince() === undefined ? freshness : { state: "kept", ...freshness };
  }

  /** A server names its scopes only when it refuses, so connect first. */
  async logIn(how: LogInOptions): Promise<boolean> {
    await this.upstream.retry().catch(() => {});
    const missing = await this.login?.missing();
    if (!this.login || (this.upstream.state.status?.state !== "needs_login" && !missing)) return false;
    await this.login.logIn(how);
    await this.noteIssuer();
    await this.upstream.retry().catch(() => {});
    return true;
  }

  restart(): Promise<void> {
    return this.upstream.restart();
  }

  async logOut(): Promise<boolean> {
    return this.login?.logOut() ?? false;
  }

  diagnostics(): McpDiagnostics {
    const { state } = this.upstream;
    return {
      label: this.options.label,
      ...this.upstream.diagnostics(),
      status: state.status,
      listedAt: this.stored?.savedAt,
      fromCache: state.listing === undefined && this.stored !== undefined,
      entries: this.shown ? countDrafts(this.shown.content) : 0,
      warnings: [...(this.currentListing()?.warnings ?? []), ...this.cuts()],
    };
  }

  /** A login may have listed the server before anyone follows it. */
  private async restore(): Promise<Reading | undefined> {
    await this.noteIssuer();
    if (this.upstream.state.listing) return this.toReading();
    this.stored = await this.options.cache?.read();
    this.upstream.recall(this.stored?.era, this.stored?.listing);
    for (const fact of this.stored?.asked ?? []) this.upstream.asked.add(fact);
    if (!this.stored) this.waitForFirst();
    return this.stored || this.wait === "awaited" ? this.toReading() : undefined;
  }

  private async read(signal: AbortSignal): Promise<Reading> {
    const list = () => untilAborted(this.upstream.relist(), signal);
    await (this.isStarting() ? listInTurn(list, signal) : list()).catch((error: unknown) => {
      // Waiting for consent is a state, not a failure to retry.
      if (!this.needsConsent()) throw error;
    });
    await this.noteIssuer();
    const reading = this.toReading();
    await this.writing;
    return reading;
  }

  private async close(): Promise<void> {
    this.stopWaiting();
    this.wait = "stopped";
    await this.writing;
    await this.upstream.close();
  }

  private toReading(): Reading {
    this.storeListing();
    this.shown = this.toShown();
    const listedAt = this.stored?.savedAt;
    return {
      content: this.shown.content,
      ...(listedAt !== undefined && { oldest: listedAt, newest: listedAt }),
    };
  }

  private toShown(): ShownServer {
    const { options, issuer, upstream } = this;
    const { trusted = false } = options;
    const listing = this.currentListing();
    const status = this.shownStatus();
    const isStarting = this.isStarting() && this.wait === "awaited";
    const last = this.shown?.content.isStarting === isStarting ? this.shown : undefined;
    if (last && last.listing === listing && last.status === status && last.issuer === issuer) return last;
    const listed = listing
      ? toDrafts({ ...listing, tools: allowedTools(listing, options.config) }, this.draftOptions(status))
      : { drafts: this.unlisted(status), lazyDrafts: [] };
    const fingerprint = lazy(() => toFingerprint(listed));
    if (last && last.fingerprint() === fingerprint()) return { ...last, listing, status, issuer };
    const domain = {
      ...toDomain(options, trusted ? listing?.instructions : undefined),
      keptSince: () => this.keptSince(),
      leftOut: () => this.leftOut(),
      warm: () => upstream.warm(),
    };
    const content = { domains: [domain], ...listed, warnings: this.cuts(), isStarting };
    return { listing, status, issuer, fingerprint, content };
  }

  /** The connection that lists a server of people says nothing about theirs: each call finds out. */
  private shownStatus(): EntryStatus | undefined {
    const { status } = this.upstream.state;
    if (this.upstream.people && !this.needsConsent() && this.currentListing()) return undefined;
    return status ?? (this.isStarting() ? STARTING : undefined);
  }

  /** Entries of a server that was never listed. The first login lists it. */
  private unlisted(status: EntryStatus | undefined): EntryDraft[] {
    if (!status) return [];
    if (!this.upstream.people || status.state !== "needs_login")
      return [placeholderContent(this.options, status)];
    return [loginTool(this.draftOptions(undefined))];
  }

  private draftOptions(status: EntryStatus | undefined): DraftOptions {
    const { options, issuer, upstream } = this;
    const { label, config, trusted = false, lanes = {}, tools = {} } = options;
    const { commandFor = (words: readonly string[]) => `keyhole ${words.join(" ")}` } = options;
    const { identity } = toServerProgram(label, config, options);
    return {
      ...{ label, trusted, lanes, tools, upstream, status, timeoutMs: config.timeoutMs },
      askTools: config.askTools ?? {},
      approvedBy: commandFor(["approve", label]),
      wordingOk: (config.changes ?? options.changes) === "wording-ok",
      program: issuer === undefined ? identity : contentHash([identity, issuer]),
      transport: config.transport === "stdio" ? "pipe" : "tcp",
      // Without path and query, which may contain secrets.
      url: config.transport === "stdio" ? undefined : URL.parse(config.url)?.origin,
      toProblem: (reason) => this.toProblem(reason, commandFor(["approve", label])),
    };
  }

  private async toProblem(reason: string, approve: string): Promise<Problem> {
    const { label, config, isolation } = this.options;
    const path = deniedWrite(reason, () => toIsolatedServer(config, this.options));
    if (path === undefined || (await isolationFault()) !== undefined)
      return problem("UPSTREAM_ERROR", { server: label, reason }, { server: label });
    const isWritten = !isolation || (config.transport === "stdio" && config.sandbox !== undefined);
    if (!isWritten) isolation.onDenied?.(toServerProgram(label, config, this.options), path);
    const remedy = isWritten
      ? `add its folder to "sandbox": { "folders": [] } of ${label}`
      : `type ${approve}, which shows the folder and asks`;
    return problem("SANDBOX_DENIED", { server: label, path, reason, remedy }, { server: label });
  }

  /** Computed for each answer, so that the first listing of this start needs no new catalog. */
  private keptSince(): number | undefined {
    return this.upstream.state.listing === undefined ? this.stored?.savedAt : undefined;
  }

  private currentListing(): Listing | undefined {
    return this.upstream.state.listing ?? this.stored?.listing;
  }

  private leftOut(): readonly string[] {
    return this.currentListing()?.leftOut ?? [];
  }

  private cuts(): string[] {
    return this.leftOut().map((part) => `${part} are left out`);
  }

  private storeListing(): void {
    const { era, listing = this.stored?.listing } = this.upstream.state;
    const asked = [...this.upstream.asked];
    const isListed = listing !== undefined && listing === this.stored?.listing;
    if (!listing || (isListed && asked.length === (this.stored?.asked?.length ?? 0))) return;
    const savedAt = isListed ? this.stored!.savedAt : this.options.clock.now();
    const next: CachedListing = { savedAt, ...(era && { era }), asked, listing };
    this.stored = next;
    // A failed write only costs the next start a listing.
    this.writing = this.writing.then(() => this.options.cache?.write(next)).catch(() => {});
  }

  /** Excludes reading a stored listing, which may take long on a busy machine. */
  private waitForFirst(): void {
    if (this.wait === "stopped") return;
    this.wait = "awaited";
    this.stopWaiting = this.options.clock.after(this.options.limits.startingMs, () => {
      this.wait = "slow";
      if (this.isStarting()) this.onChange();
    });
  }

  /** Approvals are also bound to the issuer. An unusable config has none; the start reports why. */
  private async noteIssuer(): Promise<void> {
    this.issuer = await this.login?.issuer().catch(() => undefined);
  }

  private isStarting(): boolean {
    return (
      (this.wait === "awaited" || this.wait === "slow") &&
      !this.upstream.state.status &&
      !this.currentListing()
    );
  }

  private needsConsent(): boolean {
    return this.upstream.state.status?.state === "quarantined";
  }
}
