import type { ParseOutcome } from "../../base/json-schema/field-error.ts";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import type { Kind, Visibility } from "../../search/port/search-index.ts";
import type { Principal } from "./principal.ts";
import type { Approval, AskBefore, ToolQuestion } from "./question.ts";
import type { SearchConfig } from "./search-config.ts";
import type { CallTrace } from "./span-context.ts";

/** The lanes of tools, the weakest first. */
export const LANES = ["read", "write", "destructive"] as const;
/** The strongest thing that a tool may do: read, write or destroy. */
export type Lane = (typeof LANES)[number];
/** The effect of a tool, in words for people. */
export const DOES = { read: "reads", write: "writes", destructive: "destroys" } as const;

/** Why an entry that exists cannot be used now. */
export interface EntryStatus {
  readonly state: "starting" | "needs_login" | "server_down" | "quarantined" | "invalid";
  readonly reason: string;
}

/** The origin of an entry that somebody else defined. */
export interface Origin {
  /** The id of its source. */
  readonly source: string;
  /** Identifies the program or the address behind the source. Approvals are bound to it. */
  readonly program: string;
  /** The definition that a person approves, and its SHA-256 over canonical JSON. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly hash: string;
  /** The ways in which the definition tries to steer a model, where its source has looked for them. */
  readonly poison?: readonly string[];
  /** Whether the owner accepts every definition of the source without approval. */
  readonly trusted: boolean;
  /** Whether the owner lets the source change descriptions, and nothing else, without a new approval. */
  readonly wordingOk?: boolean;
  /** The command that a person types to approve it. Default: `keyhole approve` with the domain. */
  readonly approvedBy?: string;
  /** The lane that the config gives the tool, which no mark changes. */
  readonly lane?: Lane | undefined;
  /** The route of the entry that this one is part of. Approving that entry approves this one too. */
  readonly partOf?: string;
}

/** Display fields of an entry that faces pass on as they are, such as its title and output schema. */
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

/** A skill as it is published: the front matter of its SKILL.md, and its files. */
export interface SkillManifest {
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** Every file, including SKILL.md; `dynamic` where files are made on request. */
  readonly files: readonly SkillManifestFile[] | "dynamic";
}

/** One file of a published skill. */
export interface SkillManifestFile {
  /** Path within the skill, spelt as in its route. */
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

/** A call that undoes another one. */
export interface UndoStep {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The facts about a call that a tool or resource receives. */
export interface CallContext {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly session?: string;
  /** The client behind the call. Absent where the face cannot reach it while the call runs. */
  readonly client?: CallingClient;
  /** The trace of the call, to pass on with its requests to servers. */
  readonly trace?: CallTrace;
  /** Searches the entries that the caller may see, best first. */
  readonly find?: (request: FindRequest) => Promise<readonly FoundEntry[]>;
  /** Runs the script of a recipe over the entries that the caller may see. Absent inside such a script. */
  readonly runScript?: (script: BoundScript) => Promise<unknown>;
  /** Raises the size up to which the result is shown whole, for entries whose caller names a budget. */
  readonly showUpTo?: (tokens: number) => void;
  /**
   * Asks a person about something that the call is about to do. Ask before anything is done: where the answer comes with
   * a later request, this throws, and the call is made again with the answer.
   */
  readonly ask?: (question: ToolQuestion) => Promise<Approval>;
}

/** The most that the script of a recipe may do. */
export interface ScriptBounds {
  /** Calls in a stronger lane are refused. */
  readonly lane: Lane;
  /** The ops that it may call to change something. Absent: all of its lane. */
  readonly calls?: readonly string[];
  /** Whether a person approves the recipe before it runs, and with it the calls that need approval. */
  readonly confirmation: boolean;
}

/** A script with its bounds. */
export interface BoundScript {
  readonly code: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Reads, and tells the effects instead of making them. */
  readonly dryRun: boolean;
  readonly bounds: ScriptBounds;
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

/** An error in the shape of JSON-RPC. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The severity of a log message, as MCP has it. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** The client that called: a tool sends it progress and messages, and reads its answers to questions. */
export interface CallingClient {
  /** Reports progress. Does nothing if the client did not ask for it. */
  progress(update: { readonly progress: number; readonly total?: number; readonly message?: string }): void;
  /** The lowest level of messages that the client listens to. Absent if it listens to none. */
  readonly logLevel?: LogLevel | undefined;
  /** Sends a message to a client that listens to messages of that level. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /**
   * Takes a result in the protocol's own shape, from an entry that has one. The entry also answers with its
   * value as always. Absent where the face does not pass such results on.
   */
  readonly passOn?: (result: unknown) => void;
  /** Takes an error of the protocol itself. The entry then fails with its problem as always. */
  readonly passError?: (error: RpcError) => void;
  /** The name that the client gives of itself. */
  readonly name?: string | undefined;
  /** The client runs on this machine and reads any file of its person without a question. */
  readonly readsFiles?: boolean;
  /** The capabilities that the client declares, by name, such as `elicitation`. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The client's answers to an earlier round of this call, by the keys of the questions. Untrusted. */
  readonly responses: Readonly<Record<string, unknown>>;
  /** The state that the earlier round left, verified to be unchanged and of this very call. */
  readonly state?: string;
  /** Equal for all calls of one connection. */
  readonly connection?: object;
  /** The folder that the client runs in, where it is another one than that of this process. */
  readonly folder?: string | undefined;
  /**
   * Sends a request of a server on to the client while the call runs, and returns the answer. Rejects if the client
   * does not answer. Absent where the client cannot be asked.
   */
  readonly request?: (method: string, params: object) => Promise<unknown>;
  /** The client's roots, asked for once until they change. Absent for a client without roots. */
  readonly roots?: () => Promise<readonly ClientRoot[]>;
}

/** A folder or address that a client says its work is about. */
export interface ClientRoot {
  readonly uri: string;
  readonly name?: string | undefined;
}

interface EntryBase {
  readonly route: string;
  readonly op: string;
  readonly domain: string;
  /** Further addresses that find the entry, where no other entry has them as route or op. */
  readonly addresses?: readonly string[];
  /** The name that its author gave it: a function name or a title. */
  readonly name: string;
  readonly description: string;
  readonly visibility: Visibility;
  readonly lane: Lane;
  /** A principal needs all of these to see or run the entry. They include the domain's. */
  readonly scopes: readonly string[];
  readonly category?: string;
  readonly tags: readonly string[];
  /** Other names the entry answers to, exactly. */
  readonly aliases: readonly string[];
  /** Phrases that people say when they need it. */
  readonly phrases: readonly string[];
  /** Ops or routes of entries often used together with this one. */
  readonly related: readonly string[];
  readonly guidance: readonly Guidance[];
  readonly examples: readonly Example[];
  readonly notes: readonly string[];
  readonly inputSchema: JsonSchema;
  readonly status?: EntryStatus;
  /** Set for an entry whose definition is read when it is needed. */
  readonly kept?: Pick<LazyDraft, "digest" | "status">;
  /** Set for entries defined outside. Entries written for Keyhole need no approval. */
  readonly origin?: Origin;
  /** Whether its results are untrusted text, which a model must not take for instructions. */
  readonly outside?: boolean;
  readonly presentation?: Presentation;
  /** Set for skills that can be published with all their files. */
  readonly manifest?: SkillManifest;
  /** Body text that search may look into. */
  readonly content?: string;
  /** Facts of the source (such as `resource_type`) that a domain's search segments filter by. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Checks params with the author's own schema. Without it, the JSON Schema decides. Must not throw. */
  readonly parse?: (params: unknown) => ParseOutcome;
}

/** An entry that runs. */
export interface ToolEntry extends EntryBase {
  readonly kind: "tool";
  /** Its author declares no lane, and its name does not tell one. */
  readonly isLaneGuessed?: boolean;
  readonly requiresConfirmation: boolean;
  /** It asks a person by the `ask` of its call, so nobody is asked before it runs. */
  readonly asksItself?: boolean;
  /** A long text shows its end and a little of its beginning. Default: its beginning. */
  readonly look?: "ends";
  /** The calls that need approval by the word of its author, its server's config or its domain. */
  readonly ask?: AskBefore;
  readonly extraction: ExtractionSchema | null;
  readonly extractEntities?: (result: unknown) => Entity[];
  readonly policy?: Policy;
  readonly timeoutMs?: number;
  readonly call: (params: Record<string, unknown>, context: CallContext) => Promise<unknown>;
  readonly dryRun?: (params: Record<string, unknown>, context: CallContext) => Promise<unknown>;
  /** The code of a recipe. */
  readonly code?: string;
  /** The call that undoes one that returned this result. */
  readonly undo?: (params: Record<string, unknown>, result: unknown) => UndoStep | undefined;
}

/** An entry that is read: a document, a skill or a prompt. */
export interface ReadableEntry extends EntryBase {
  readonly kind: "resource" | "skill" | "prompt";
  readonly load: (params: Record<string, unknown>, context: CallContext) => Promise<unknown>;
  /** Suggests values for an argument, from its typed beginning and the other arguments. */
  readonly complete?: (
    argument: { readonly name: string; readonly value: string },
    given: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<readonly string[]>;
}

/** Anything an agent can discover. It carries its own closure, so running it needs no import of its source. */
export type Entry = ToolEntry | ReadableEntry;

/**
 * An entry as its source yields it. The catalog adds the domain's scopes, and address, lane and the domain's `ask` where
 * they are not declared.
 */
export type EntryDraft =
  | (Omit<ToolEntry, "route" | "op" | "lane" | "isLaneGuessed"> & {
      readonly route?: string;
      readonly op?: string;
      readonly lane?: Lane;
      /** The lane of the risk that its author declares. The tool's own is never weaker. */
      readonly leastLane?: Lane;
    })
  | Omit<ReadableEntry, "op" | "lane">;

/**
 * A tool whose definition is read when it is needed, because reading thousands takes seconds at a start. It has no
 * aliases, tags, notes, examples, guidance or related entries.
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
  /** Equal for drafts of one route that make the same entry, in the same state. */
  readonly digest: string;
  /** The whole draft. */
  read(): EntryDraft;
}

/** The path of the entry in a server's domain that has its instructions. It is hidden, and approved like a tool. */
export const INSTRUCTIONS_PATH = "resources/server-instructions";

/** The status of an entry, as far as it is known without reading a definition. */
export function knownStatus(entry: Entry): EntryStatus | undefined {
  return entry.kept ? entry.kept.status : entry.status;
}

/** A draft of either form. */
export type Draft = EntryDraft | LazyDraft;

/** Text on how to use the entries of a domain, or of one category in it. */
export interface Rule {
  readonly domain: string;
  /** Absent for a rule of the whole domain. */
  readonly category?: string;
  readonly text: string;
}

/**
 * Decides about a call that creates something without a search for it, or changes something that its session has not
 * read: it runs with a warning, it is refused, or it is not judged.
 */
export type ReadBeforeWrite = "warn" | "refuse" | "off";

/** A named branch of the catalog. See {@link DomainDefinition}. */
export interface Domain {
  readonly name: string;
  /** Further names of the domain, in addresses and searches. The name of another domain wins over them. */
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly scopes: readonly string[];
  readonly rules: readonly Rule[];
  readonly searchConfig?: SearchConfig;
  readonly readBeforeWrite?: ReadBeforeWrite;
  /** The calls of its tools that need approval. The gateway's own `ask` may be stricter. */
  readonly ask?: AskBefore;
  /** When an earlier start listed its entries, in milliseconds since 1970. Undefined once this one has. */
  readonly keptSince?: () => number | undefined;
  /** Parts over the limits of a listing, such as "20 of its tools after the first 50000". */
  readonly leftOut?: () => readonly string[];
  /** Starts what its entries need, ahead of a call. Must not throw. */
  readonly warm?: () => void;
}

/** A next step: where to go, why, and with which params. */
export interface Guidance {
  readonly route: string;
  readonly prose: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Says where a tool's result names things. */
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

/** The domain that an op or a route names first. */
export function domainOf(address: string): string {
  return address.split(/[.:/?]/, 1)[0] ?? "";
}
