import type { ParseOutcome } from "../../base/json-schema/field-error.ts";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import type { Kind, Visibility } from "../../search/port/search-index.ts";
import type { Principal } from "./principal.ts";
import type { Approval, AskBefore, ToolQuestion } from "./question.ts";
import type { SearchConfig } from "./search-config.ts";
import type { CallTrace } from "./span-context.ts";

/** Lanes of tools, weakest first. */
export const LANES = ["read", "write", "destructive"] as const;
/** The strongest effect that a tool may have: read, write or destroy. */
export type Lane = (typeof LANES)[number];
/** The effect of a tool, in words for people. */
export const DOES = { read: "reads", write: "writes", destructive: "destroys" } as const;

/** Why an existing entry cannot be used now. */
export interface EntryStatus {
  readonly state: "starting" | "needs_login" | "server_down" | "quarantined" | "invalid";
  readonly reason: string;
}

/** The origin of an outside entry. */
export interface Origin {
  /** Id of its source. */
  readonly source: string;
  /** Hash of the program or address behind the source. Approvals are bound to it. */
  readonly program: string;
  /** The definition that a person approves, and its SHA-256 over canonical JSON. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly hash: string;
  /** The ways in which the definition tries to steer a model, if its source has checked. */
  readonly injection?: readonly string[];
  /** Whether the owner accepts every definition of the source without approval. */
  readonly trusted: boolean;
  /** Whether the owner lets the source change descriptions without a new approval. */
  readonly wordingOk?: boolean;
  /** The command to approve it. Default: `keyhole approve` with the domain. */
  readonly approvedBy?: string;
  /** The lane that the config gives the tool. A person's lane does not change it. */
  readonly lane?: Lane | undefined;
  /** Route of the entry that contains this one and whose approval covers it. */
  readonly partOf?: string;
}

/** Display fields that faces pass on unchanged, such as title and output schema. */
export interface Presentation {
  readonly title?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly outputSchema?: JsonSchema;
  readonly icons?: readonly unknown[];
  readonly size?: number;
  /** The server can run the tool as a task. */
  readonly runsAsTask?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A published skill: the front matter of its SKILL.md, and its files. */
export interface SkillManifest {
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** Every file, including SKILL.md; `dynamic` if files are generated on request. */
  readonly files: readonly SkillManifestFile[] | "dynamic";
}

/** One file of a published skill. */
export interface SkillManifestFile {
  /** Path within the skill, as in its route. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** `sha256:` and 64 digits. */
  readonly digest: string;
}

/** Args of a call that works, for a model to copy. */
export interface Example {
  readonly args: Readonly<Record<string, unknown>>;
  readonly note?: string;
}

/** Advice on when to use one tool and when not to. */
export interface Policy {
  readonly do?: readonly string[];
  readonly dont?: readonly string[];
  readonly edgeCases?: readonly string[];
}

/** A call that undoes another. */
export interface UndoStep {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Facts about a call, for the tool or resource. */
export interface CallContext {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly session?: string;
  /** The client of the call. Absent if the face cannot reach it while the call runs. */
  readonly client?: CallingClient;
  /** Trace of the call, to pass on to servers. */
  readonly trace?: CallTrace;
  /** Searches the entries that the caller may see, best first. */
  readonly find?: (request: FindRequest) => Promise<readonly FoundEntry[]>;
  /** Runs the script of a recipe over the entries that the caller may see. Absent inside such a script. */
  readonly runScript?: (script: BoundScript) => Promise<unknown>;
  /** Raises the size up to which the result is shown whole, if the caller names a budget. */
  readonly showUpTo?: (tokens: number) => void;
  /**
   * Asks a person about something that the call is about to do. Ask before doing anything: if the answer comes with a
   * later request, this throws, and the call is repeated with the answer.
   */
  readonly ask?: (question: ToolQuestion) => Promise<Approval>;
}

/** Bounds of a recipe's script. */
export interface ScriptBounds {
  /** Calls in a stronger lane are refused. */
  readonly lane: Lane;
  /** Ops that it may call to change something. Absent: all in its lane. */
  readonly calls?: readonly string[];
  /** Whether a person approves the recipe, with all calls in it that need approval, before it runs. */
  readonly confirmation: boolean;
}

/** A script with its bounds. */
export interface BoundScript {
  readonly code: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Read for real, and report effects instead of making them. */
  readonly dryRun: boolean;
  readonly bounds: ScriptBounds;
}

/** A search by an entry in one domain. */
export interface FindRequest {
  readonly query: string;
  readonly domain: string;
  readonly kinds?: readonly Kind[];
  readonly categories?: readonly string[];
  /** Required tags. */
  readonly tags?: readonly string[];
  readonly limit: number;
}

/** An entry that a search found. Scores compare within one answer only. */
export interface FoundEntry {
  readonly route: string;
  readonly score: number;
}

/** An error in the shape of JSON-RPC. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The severity of a log message, as MCP has it. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** The client of a call: a tool sends it progress and messages, and reads its answers to questions. */
export interface CallingClient {
  /** Reports progress. Does nothing if the client did not ask for it. */
  progress(update: { readonly progress: number; readonly total?: number; readonly message?: string }): void;
  /** Lowest level of messages that the client wants. Absent if it wants none. */
  readonly logLevel?: LogLevel | undefined;
  /** Sends a message if the client wants that level. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /** Passes on a result in the protocol's shape, besides the returned value. Absent if the face does not support it. */
  readonly passOn?: (result: unknown) => void;
  /** Passes on an error of the protocol. The entry still fails with its problem. */
  readonly passError?: (error: RpcError) => void;
  /** The client's name for itself. */
  readonly name?: string | undefined;
  /** The client runs on this machine and reads any file of its person without a question. */
  readonly readsFiles?: boolean;
  /** The client's declared capabilities by name, such as `elicitation`. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The client's answers to an earlier round of this call, by key of the question. Untrusted. */
  readonly responses: Readonly<Record<string, unknown>>;
  /** The state of the earlier round, verified to be unchanged and of this call. */
  readonly state?: string;
  /** The same object for all calls of one connection. */
  readonly connection?: object;
  /** The client's folder, if it differs from that of this process. */
  readonly folder?: string | undefined;
  /**
   * Sends a server's request to the client while the call runs and returns the answer. Rejects if the client does not
   * answer. Absent if the client cannot be asked.
   */
  readonly request?: (method: string, params: object) => Promise<unknown>;
  /** The client's roots, asked for once until they change. Absent for a client without roots. */
  readonly roots?: () => Promise<readonly ClientRoot[]>;
}

/** A folder or address that the client works on. */
export interface ClientRoot {
  readonly uri: string;
  readonly name?: string | undefined;
}

interface EntryBase {
  readonly route: string;
  readonly op: string;
  readonly domain: string;
  /** Further addresses, if no other entry has them as route or op. */
  readonly addresses?: readonly string[];
  /** The author's name for it: a function name or a title. */
  readonly name: string;
  readonly description: string;
  readonly visibility: Visibility;
  readonly lane: Lane;
  /** Scopes needed to see or run the entry, including the domain's. */
  readonly scopes: readonly string[];
  readonly category?: string;
  readonly tags: readonly string[];
  /** Other exact names of the entry. */
  readonly aliases: readonly string[];
  /** Phrases of people who need it. */
  readonly phrases: readonly string[];
  /** Ops or routes of entries often used with this one. */
  readonly related: readonly string[];
  readonly guidance: readonly Guidance[];
  readonly examples: readonly Example[];
  readonly notes: readonly string[];
  readonly inputSchema: JsonSchema;
  readonly status?: EntryStatus;
  /** Set for an entry whose definition is read on demand. */
  readonly lazy?: Pick<LazyDraft, "digest" | "status">;
  /** Set for entries defined outside. Entries written for Keyhole need no approval. */
  readonly origin?: Origin;
  /** Whether its results are untrusted text, never instructions. */
  readonly outside?: boolean;
  readonly presentation?: Presentation;
  /** Set for skills that can be published with all their files. */
  readonly manifest?: SkillManifest;
  /** Body text that search may look into. */
  readonly content?: string;
  /** Facts from the source (such as `resource_type`) for the domain's search segments. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Checks params with the author's own schema. Default: the JSON Schema. Must not throw. */
  readonly parse?: (params: unknown) => ParseOutcome;
}

/** An entry that runs. */
export interface ToolEntry extends EntryBase {
  readonly kind: "tool";
  /** Its author declares no lane, and its name implies none. */
  readonly isLaneGuessed?: boolean;
  readonly requiresConfirmation: boolean;
  /** The tool asks a person itself, by the `ask` of its call, so Keyhole does not ask before it runs. */
  readonly asksItself?: boolean;
  /** `ends`: a long text shows its end and a little of its beginning. Default: the beginning. */
  readonly look?: "ends";
  /** The calls that need approval according to its author, its server's config or its domain. */
  readonly ask?: AskBefore;
  readonly extraction: ExtractionSchema | null;
  readonly extractEntities?: (result: unknown) => Entity[];
  readonly policy?: Policy;
  readonly timeoutMs?: number;
  readonly call: (params: Record<string, unknown>, context: CallContext) => Promise<unknown>;
  readonly dryRun?: (params: Record<string, unknown>, context: CallContext) => Promise<unknown>;
  /** The code of a recipe. */
  readonly code?: string;
  /** The call that undoes a call with this result. */
  readonly undo?: (params: Record<string, unknown>, result: unknown) => UndoStep | undefined;
}

/** An entry that is read: a document, a skill or a prompt. */
export interface ReadableEntry extends EntryBase {
  readonly kind: "resource" | "skill" | "prompt";
  readonly load: (params: Record<string, unknown>, context: CallContext) => Promise<unknown>;
  /** Suggests values for an argument, from its first characters and the other arguments. */
  readonly complete?: (
    argument: { readonly name: string; readonly value: string },
    given: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<readonly string[]>;
}

/** Anything an agent can discover. It carries its own closure, so running it needs no import of its source. */
export type Entry = ToolEntry | ReadableEntry;

/** An entry from its source. The catalog adds the domain's scopes and missing fields: address, lane and `ask`. */
export type EntryDraft =
  | (Omit<ToolEntry, "route" | "op" | "lane" | "isLaneGuessed"> & {
      readonly route?: string;
      readonly op?: string;
      readonly lane?: Lane;
      /** The lane of the declared risk. The tool's own lane is never weaker. */
      readonly leastLane?: Lane;
    })
  | Omit<ReadableEntry, "op" | "lane">;

/**
 * A tool whose definition is read on demand: reading thousands would take seconds at the start. It has no aliases,
 * tags, notes, examples, guidance or related entries.
 */
export interface LazyDraft {
  readonly kind: "tool";
  readonly route: string;
  readonly domain: string;
  readonly name: string;
  readonly phrases: readonly string[];
  readonly visibility: Visibility;
  readonly status: EntryStatus | undefined;
  readonly origin: Origin;
  /** Equal for drafts of one route that produce the same entry in the same state. */
  readonly digest: string;
  /** The whole draft. */
  read(): EntryDraft;
}

/** Path of the hidden entry in a server's domain that has its instructions. Approved like a tool. */
export const INSTRUCTIONS_PATH = "resources/server-instructions";

/** The status of an entry, if known without reading its definition. */
export function knownStatus(entry: Entry): EntryStatus | undefined {
  return entry.lazy ? entry.lazy.status : entry.status;
}

/** A draft of either form. */
export type Draft = EntryDraft | LazyDraft;

/** Instructions for the entries of a domain, or of one category. */
export interface Rule {
  readonly domain: string;
  /** Absent for a rule of the whole domain. */
  readonly category?: string;
  readonly text: string;
}

/**
 * Decides about a call that creates something without a search for it, or changes something that its session has not
 * read: it runs with a warning, is refused, or just runs.
 */
export type ReadBeforeWrite = "warn" | "refuse" | "off";

/** A named branch of the catalog. See {@link DomainDefinition}. */
export interface Domain {
  readonly name: string;
  /** Further names of the domain, in addresses and searches. The name of another domain wins. */
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly scopes: readonly string[];
  readonly rules: readonly Rule[];
  readonly searchConfig?: SearchConfig;
  readonly readBeforeWrite?: ReadBeforeWrite;
  /** Which calls of its tools need approval. The gateway's own `ask` may be stricter. */
  readonly ask?: AskBefore;
  /**
   * When an earlier start listed its entries, in milliseconds since 1970. Undefined once this start has listed them.
   */
  readonly keptSince?: () => number | undefined;
  /** Parts beyond the limits of a listing, such as "20 of its tools after the first 50000". */
  readonly leftOut?: () => readonly string[];
  /** Starts whatever its entries need, ahead of a call. Must not throw. */
  readonly warm?: () => void;
}

/** A next step: where to go, why, and with which params. */
export interface Guidance {
  readonly route: string;
  readonly prose: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The places in a tool's result that name entities. */
export interface ExtractionSchema {
  /** Dotted path to the data; `$root` for the result itself. */
  readonly path: string;
  readonly type: string;
  readonly nameField: string;
  /** Default `id`. */
  readonly idField?: string;
  readonly isArray?: boolean;
}

/** A thing that a result names. */
export interface Entity {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly timestamp: Date;
}

/** The domain at the beginning of an op or route. */
export function domainOf(address: string): string {
  return address.split(/[.:/?]/, 1)[0] ?? "";
}
