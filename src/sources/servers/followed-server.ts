import { problem } from "../../base/problems/problem.ts";
import type { Clock } from "../../base/util/clock.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import { stricterAsk } from "../../core/calls/decide-call.ts";
import type { Domain, EntryDraft, EntryStatus } from "../../core/nouns/entry.ts";
import { countDrafts, type Freshness, type Source, type SourceContent } from "../../core/nouns/source.ts";
import { createOutlet } from "../follow-source.ts";
import { askFor, listsTool, type ToolOverride } from "../mcp/config/overrides.ts";
import { placeholderContent } from "../mcp/server-content.ts";
import type { ReadServerConfig } from "./server-kinds.ts";

export interface FollowedServerOptions {
  readonly label: string;
  readonly config: ReadServerConfig;
  readonly clock: Clock;
  readonly description?: string;
  readonly scopes?: readonly string[];
  readonly tools?: Readonly<Record<string, ToolOverride>>;
  /** The command to approve the server. */
  readonly approvedBy: string;
  mayStart(): boolean | Promise<boolean>;
  /** Creates the sources of the server. Rejects if a folder or a variable is missing. */
  open(): Promise<OpenedServer>;
}

export interface OpenedServer {
  readonly sources: readonly Source[];
  /** The domain, unless one of the sources yields it. */
  readonly domain?: Domain;
  warnings(): readonly string[];
}

type ContentOutlet = ReturnType<typeof createOutlet>;

/** How often to look for a consent by another process, or a corrected folder. */
const CONSENT_MS = 500;
const RETRY_MS = 5_000;
/** Slightly less than the first catalog waits for the server. */
const SOON_MS = 800;
const READING: EntryStatus = { state: "starting", reason: "it is still being read; try again in a moment" };

/** One run of a server that Keyhole reads itself. Reads nothing before a person has consented. */
export class FollowedServer {
  readonly #options: FollowedServerOptions;
  #opened: OpenedServer | undefined;
  #status: EntryStatus | undefined;
  #entries = 0;
  /** Ends the wait for the next attempt. */
  #tryNow = () => {};
  #tried = Promise.withResolvers<void>();
  readonly #toDraft: (draft: EntryDraft) => EntryDraft;

  constructor(options: FollowedServerOptions) {
    this.#options = options;
    // Unchanged drafts save work in the catalog.
    this.#toDraft = memoizeByObject((draft) => this.#guarded(this.#overridden(draft)));
  }

  async *contents(signal: AbortSignal, onFailed?: (error: unknown) => void): AsyncGenerator<SourceContent> {
    const failed = new AbortController();
    const ended = new AbortController();
    const outlet = createOutlet();
    const ending = AbortSignal.any([signal, failed.signal, ended.signal]);
    const running = this.#run(outlet, ending, onFailed ?? ((error) => failed.abort(error)));
    try {
      yield* outlet.values(ending);
      if (!signal.aborted) failed.signal.throwIfAborted();
    } finally {
      ended.abort();
      await running;
      this.#opened = undefined;
      this.#tried.resolve();
    }
  }

  async refresh(signal?: AbortSignal, force?: boolean): Promise<void> {
    if (!this.#opened) {
      this.#tried = Promise.withResolvers();
      this.#tryNow();
      await (signal ? untilAborted(this.#tried.promise, signal) : this.#tried.promise);
    }
    if (this.#status) throw this.#unavailable(this.#status);
    const { sources = [] } = this.#opened ?? {};
    await Promise.all(
      sources.map((source) => source.refresh?.(signal ?? new AbortController().signal, force)),
    );
  }

  freshness(): Freshness {
    const { state, reason } = this.#status ?? {};
    if (state)
      return {
        state: state === "quarantined" ? "waiting" : "failed",
        count: 0,
        isFresh: false,
        ...(reason && { lastError: reason }),
      };
    const all = (this.#opened?.sources ?? []).flatMap((source) => source.freshness?.() ?? []);
    const [first, ...others] = all;
    if (!first) return { state: "unknown", count: 0, isFresh: false };
    return others.reduce(older, first);
  }

  diagnostics() {
    const { lastError } = this.freshness();
    const status: EntryStatus | undefined =
      this.#status ?? (lastError === undefined ? undefined : { state: "server_down", reason: lastError });
    const { label } = this.#options;
    return { label, status, entries: this.#entries, stderr: "", warnings: this.#opened?.warnings() ?? [] };
  }

  async #run(outlet: ContentOutlet, signal: AbortSignal, onFailed: (error: unknown) => void): Promise<void> {
    while (!signal.aborted) {
      const last = this.#status;
      const opened = await this.#tryToOpen(onFailed);
      if (opened) {
        this.#opened = opened;
        return this.#follow(opened, outlet, signal, onFailed);
      }
      const status = this.#status!;
      if (last?.reason !== status.reason) {
        const { label, config } = this.#options;
        void outlet.put({
          domains: [this.#toDomain()],
          drafts: [placeholderContent({ label, config }, status)],
        });
      }
      this.#tried.resolve();
      await this.#pause(status.state === "quarantined" ? CONSENT_MS : RETRY_MS, signal);
    }
  }

  async #tryToOpen(onFailed: (error: unknown) => void): Promise<OpenedServer | undefined> {
    const last = this.#status;
    try {
      this.#status = (await this.#options.mayStart()) ? undefined : this.#needsConsent();
      return this.#status ? undefined : await this.#options.open();
    } catch (error) {
      this.#status = { state: "server_down", reason: reasonOf(error) };
      if (last?.reason !== this.#status.reason) onFailed(error);
      return undefined;
    }
  }

  async #follow(
    opened: OpenedServer,
    outlet: ContentOutlet,
    signal: AbortSignal,
    onFailed: (error: unknown) => void,
  ): Promise<void> {
    const contents = new Map<Source, SourceContent>();
    const missing = new Set(opened.sources);
    const noteFirst = (source: Source) => {
      missing.delete(source);
      if (missing.size === 0) this.#tried.resolve();
    };
    const follow = async (source: Source) => {
      const fail = (error: unknown) => {
        noteFirst(source);
        onFailed(error);
      };
      for await (const content of source.contents(signal, fail)) {
        contents.set(source, content);
        await outlet.put(this.#merged(opened, [...contents.values()]));
        noteFirst(source);
      }
    };
    const cancel = this.#options.clock.after(SOON_MS, () => {
      if (contents.size === 0) void outlet.put(this.#whileReading(opened));
    });
    await Promise.all(opened.sources.map((source) => follow(source).catch(onFailed))).finally(cancel);
  }

  /** Only the domain, so that a menu can name it and searches wait for its entries. */
  #whileReading({ domain }: OpenedServer): SourceContent {
    const { label, config } = this.#options;
    return {
      domains: [this.#toDomain(domain)],
      drafts: [placeholderContent({ label, config }, READING)],
      isStarting: true,
    };
  }

  #merged({ domain }: OpenedServer, all: readonly SourceContent[]): SourceContent {
    const { includeTools, excludeTools = [] } = this.#options.config;
    const isOffered = ({ kind, name }: EntryDraft) =>
      kind !== "tool" || ((!includeTools || listsTool(includeTools, name)) && !listsTool(excludeTools, name));
    const domains = [...(domain ? [domain] : []), ...all.flatMap((content) => content.domains)];
    const content = {
      domains: domains.map((one) => this.#toDomain(one)),
      drafts: all.flatMap(({ drafts }) => drafts.filter(isOffered).map(this.#toDraft)),
      errors: all.flatMap(({ errors = [] }) => errors),
      warnings: all.flatMap(({ warnings = [] }) => warnings),
    };
    this.#entries = countDrafts(content);
    return content;
  }

  #toDomain(domain?: Domain): Domain {
    const { label, config, description = config.description, scopes = config.scopes } = this.#options;
    const { aliases, ask = domain?.ask } = config;
    return {
      rules: [],
      ...domain,
      name: label,
      description: description ?? domain?.description ?? "",
      scopes: scopes ?? domain?.scopes ?? [],
      ...(aliases && { aliases }),
      ...(ask && { ask: stricterAsk(ask, domain?.ask) }),
    };
  }

  /** The draft with the person's changes. */
  #overridden(draft: EntryDraft): EntryDraft {
    if (draft.kind !== "tool") return draft;
    const { label, config, tools = {} } = this.#options;
    const { name, description, lane, hidden } = tools[draft.name] ?? {};
    const ask = askFor(draft.name, config.askTools);
    return {
      ...draft,
      ...(name !== undefined && { name, op: `${label}.${name}` }),
      ...(description !== undefined && { description }),
      ...(lane && { lane }),
      ...(hidden && { visibility: "hidden" }),
      ...(ask && { ask }),
    };
  }

  /** The draft, which checks before each use that the consent was not revoked. */
  #guarded(draft: EntryDraft): EntryDraft {
    const check = async () => {
      if (!(await this.#options.mayStart())) throw this.#unavailable(this.#needsConsent());
    };
    if (draft.kind !== "tool") {
      const { load } = draft;
      return { ...draft, load: async (...input) => check().then(() => load(...input)) };
    }
    const { call } = draft;
    return { ...draft, call: async (...input) => check().then(() => call(...input)) };
  }

  #needsConsent(): EntryStatus {
    const reason = `a person has to approve what it reads; the user has to type: ${this.#options.approvedBy}`;
    return { state: "quarantined", reason };
  }

  #unavailable(status: EntryStatus) {
    return problem("UNAVAILABLE", { name: `The server ${this.#options.label}`, ...status });
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tryNow = resolve;
    const cancel = this.#options.clock.after(ms, resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    cancel();
  }
}

/** The freshness of two sources together: the older age, and the failure of either. */
function older(one: Freshness, other: Freshness): Freshness {
  const oldest = [one.oldest, other.oldest].filter((time) => time !== undefined);
  const newest = [one.newest, other.newest].filter((time) => time !== undefined);
  const failed = [one, other].find(({ lastError }) => lastError !== undefined);
  return {
    ...(failed ?? one),
    count: one.count + other.count,
    ...(oldest.length > 0 && { oldest: Math.min(...oldest) }),
    ...(newest.length > 0 && { newest: Math.max(...newest) }),
    isFresh: one.isFresh && other.isFresh,
  };
}
