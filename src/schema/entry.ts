import type { Entity, ExtractionSchema } from "./extraction.ts";
import type { Guidance } from "./guidance.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { Principal } from "./principal.ts";
import type { CallTrace } from "./span-context.ts";

export const KINDS = ["tool", "resource", "skill", "prompt"] as const;
export type Kind = (typeof KINDS)[number];

/** `entry`: shown by `ask` for its domain always. `listed`: found by search. `hidden`: unveiled by guidance. */
export type Visibility = "entry" | "listed" | "hidden";

export const LANES = ["read", "write", "destructive"] as const;
export type Lane = (typeof LANES)[number];

export type RiskLevel = "safe" | "moderate" | "destructive";

/** Why an entry that exists cannot be used now. */
export interface EntryStatus {
  readonly state: "needs_login" | "server_down" | "quarantined" | "invalid";
  readonly reason: string;
}

/** Where an entry that somebody else defined came from. */
export interface Origin {
  /** The id of its source. */
  readonly source: string;
  /** What a person approves, and its SHA-256 over canonical JSON. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly hash: string;
  /** Whether the owner takes whatever the source defines. */
  readonly trusted: boolean;
  /** The route of the entry that this is a part of: approving that one approves this too. */
  readonly partOf?: string;
}

/** How somebody else's server shows what it offers, for faces that pass it on as it is. */
export interface Presentation {
  readonly title?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly outputSchema?: JsonSchema;
  readonly icons?: readonly unknown[];
  readonly size?: number;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A skill as it is published: what its SKILL.md says at the top, and its files. */
export interface SkillManifest {
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** Every file, SKILL.md too; `dynamic` where they are made when they are asked for. */
  readonly files: readonly SkillManifestFile[] | "dynamic";
}

export interface SkillManifestFile {
  /** Within the skill, as it is spelt in its route. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** `sha256:` and 64 digits. */
  readonly digest: string;
}

export interface Example {
  readonly args: Readonly<Record<string, unknown>>;
  readonly note?: string;
}

/** What to do and not to do with one tool. */
export interface Policy {
  readonly do?: readonly string[];
  readonly dont?: readonly string[];
  readonly edge_cases?: readonly string[];
}

/** What a tool or resource is told about the call that runs it. */
export interface CallContext {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly session?: string;
  /** The client behind the call, where the face has one that can be reached while the call runs. */
  readonly client?: CallingClient;
  /** The trace that the call belongs to, for what it asks of others. */
  readonly trace?: CallTrace;
  /** Searches the entries that the caller may see, best first. */
  readonly find?: (request: FindRequest) => Promise<readonly FoundEntry[]>;
  /** Raises the size up to which the result is shown whole, for entries whose caller names a budget. */
  readonly showUpTo?: (tokens: number) => void;
}

/** A search by an entry among the entries of one domain. */
export interface FindRequest {
  readonly query: string;
  readonly domain: string;
  readonly kinds?: readonly Kind[];
  readonly categories?: readonly string[];
  /** Every one of these tags. */
  readonly tags?: readonly string[];
  readonly limit: number;
}

/** An entry that a search found. Scores compare within one answer only. */
export interface FoundEntry {
  readonly route: string;
  readonly score: number;
}

/** An error as JSON-RPC has it. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** What a tool may tell the client that called it, and what that client answered when it was asked. */
export interface CallingClient {
  /** How far the call is; nothing happens where the client did not ask for it. */
  progress(update: { readonly progress: number; readonly total?: number; readonly message?: string }): void;
  /** Heard only by a client that listens to messages of that level. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /**
   * Set where the face passes results on in the protocol's own shape: an entry that has its result in that
   * shape hands it over here, and answers with its value as always.
   */
  readonly passOn?: (result: unknown) => void;
  /** The same for an error of the protocol itself; the entry then fails with its problem as always. */
  readonly passError?: (error: RpcError) => void;
  /** What the client says it can be asked for, by name, such as `elicitation`. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Answers to what an earlier round of this call asked for, by the keys it gave. Not checked: untrusted. */
  readonly responses: Readonly<Record<string, unknown>>;
  /** The state that the earlier round gave, proven to be unchanged and of this very call. */
  readonly state?: string;
}

export interface FieldError {
  /** Dotted path of the field; empty for the whole value. */
  readonly field: string;
  readonly message: string;
  /** For a name that is not known: the nearest one that is. */
  readonly nearest?: string;
}

export type ParseOutcome =
  | { readonly ok: true; readonly value: Record<string, unknown>; readonly warnings?: readonly string[] }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

interface EntryBase {
  readonly route: string;
  readonly op: string;
  readonly domain: string;
  /** Further addresses that find the entry, where no other entry has them as route or op. */
  readonly addresses?: readonly string[];
  /** The name its author gave it: a function name or a title. */
  readonly name: string;
  readonly description: string;
  readonly visibility: Visibility;
  readonly lane: Lane;
  /** Every one of these is needed to see or run the entry; the domain's are already merged in. */
  readonly scopes: readonly string[];
  readonly category?: string;
  readonly tags: readonly string[];
  /** Other names the entry answers to, exactly. */
  readonly aliases: readonly string[];
  /** What people say when they need it. */
  readonly phrases: readonly string[];
  /** Ops or routes of entries often used together with this one. */
  readonly related: readonly string[];
  readonly guidance: readonly Guidance[];
  readonly examples: readonly Example[];
  readonly notes: readonly string[];
  readonly inputSchema: JsonSchema;
  readonly status?: EntryStatus;
  /** Only where it is defined outside: what is written for Keyhole needs no approval. */
  readonly origin?: Origin;
  readonly presentation?: Presentation;
  /** Only of skills that can be published with all their files. */
  readonly manifest?: SkillManifest;
  /** Body text that search may look into. */
  readonly content?: string;
  /** Facts of the source (such as `resource_type`) that a domain's search segments filter by. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Checks params with the author's own schema; without it the JSON Schema decides. Must not throw. */
  readonly parse?: (params: unknown) => ParseOutcome;
}

export interface ToolEntry extends EntryBase {
  readonly kind: "tool";
  readonly riskLevel: RiskLevel;
  readonly requiresConfirmation: boolean;
  readonly extraction: ExtractionSchema | null;
  readonly extractEntities?: (result: unknown) => Entity[];
  readonly policy?: Policy;
  readonly timeoutMs?: number;
  readonly call: (params: Record<string, unknown>, context: CallContext) => Promise<unknown>;
  readonly dryRun?: (params: Record<string, unknown>, context: CallContext) => Promise<unknown>;
}

export interface ReadableEntry extends EntryBase {
  readonly kind: "resource" | "skill" | "prompt";
  readonly load: (params: Record<string, unknown>, context: CallContext) => Promise<unknown>;
}

/** Anything an agent can discover. It carries its own closure, so running it needs no import of its source. */
export type Entry = ToolEntry | ReadableEntry;

/**
 * An entry as its source yields it. The catalog completes it: address and lane where they are not
 * declared, and the domain's scopes.
 */
export type EntryDraft =
  | (Omit<ToolEntry, "route" | "op" | "lane"> & {
      readonly route?: string;
      readonly op?: string;
      readonly lane?: Lane;
      /** The lane where nothing tells: `read` for tools written for Keyhole, `write` for what is imported. */
      readonly defaultLane: Lane;
    })
  | Omit<ReadableEntry, "op" | "lane">;

/** Text on how to use the entries of a domain, or of one category in it. */
export interface Rule {
  readonly domain: string;
  /** Absent: concerns the whole domain. */
  readonly category?: string;
  readonly text: string;
}

export interface Domain {
  readonly name: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly rules: readonly Rule[];
  readonly searchConfig?: SearchConfig;
  /** When its entries were listed, in milliseconds since 1970, where they have not been seen since the start. */
  readonly keptSince?: () => number | undefined;
}

/** How a domain's entries are searched: which fields, how heavy, and in which segments they are shown. */
export interface SearchConfig {
  /** Comma-separated field names, such as `description,name,content`. */
  readonly queryBy?: string;
  /** Comma-separated weights, one for each field of `queryBy`. */
  readonly weights?: string;
  readonly segments?: readonly SearchSegment[];
}

export interface SearchSegment {
  readonly name: string;
  /** `key:=value` over an entry's metadata, such as `resource_type:=column`. */
  readonly filter: string;
  readonly limit: number;
  /** Lower comes first. */
  readonly priority: number;
}
