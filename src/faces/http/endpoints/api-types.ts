import type { DefinitionChange } from "../../../core/access/diff-definitions.ts";
import type { Lane } from "../../../core/nouns/entry.ts";
import type { Principal } from "../../../core/nouns/principal.ts";
import type { Freshness } from "../../../core/nouns/source.ts";
import type { SearchStatus } from "../../../search/port/search-index.ts";

// Answers of the JSON API, for the endpoints that give them and the console that shows them. The console is compiled
// for browsers, so nothing here may import types of Node.

export const TOPICS = ["calls", "catalog", "sources", "approvals", "notices"] as const;
/** A subject that changes are reported for. */
export type LiveTopic = (typeof TOPICS)[number];

/** A source with the age of its content. */
export type SourceShown = Freshness & { readonly id: string };

/** Something that happened to the gateway. */
export interface Notice {
  /** The last time. */
  readonly at: number;
  readonly what: string;
  readonly detail: string;
  readonly times: number;
}

/** The events of one minute. */
export interface Minute {
  /** Its beginning, in milliseconds since 1970. */
  readonly at: number;
  readonly calls: number;
  readonly failed: number;
  /** Tokens of answers that find and describe tools. */
  readonly discovery: number;
  /** Tokens of results, which a client pays for in any case. */
  readonly results: number;
  /** How many menus were shown. Every request of a model carries the last one. */
  readonly listings: number;
  /** Tokens of these menus. */
  readonly menus: number;
  /** Tokens that they would have with every tool in them. */
  readonly everything: number;
  /** Tokens that their clients would show of the same tools by themselves: some hide them behind a search. */
  readonly alone: number;
}

/** The tokens of one client, by the name that it gives of itself; empty if it gives none. */
export interface ClientTokens extends Omit<Minute, "at"> {
  readonly name: string;
  /** The part of the tools that it shows by itself. Absent if nobody has measured it: then whole definitions are taken. */
  readonly shows?: string;
}

/** How much waits for a person: servers for a start or a login, definitions, calls. */
export interface WaitingCounts {
  readonly servers: number;
  readonly definitions: number;
  readonly calls: number;
}

export interface OverviewAnswer {
  readonly version: string;
  readonly catalog: string;
  readonly startedAt: number;
  /** Entries by kind. */
  readonly entries: Readonly<Record<string, number>>;
  readonly search: SearchStatus;
  /** A server that waits for a person has not failed. */
  readonly sources: readonly (Pick<SourceShown, "id" | "lastError"> & { readonly waits: boolean })[];
  /** Tokens of a menu with every tool in it. */
  readonly everything: number;
  readonly totals: Omit<Minute, "at">;
  readonly clients: readonly ClientTokens[];
  readonly minutes: readonly Minute[];
  /** The newest first. */
  readonly days: readonly (Omit<Minute, "at"> & { readonly name: string })[];
  readonly discovery: { readonly searches: number; readonly found: number; readonly ledToCall: number };
  readonly notices: readonly Notice[];
}

/** Calls that ran in a time, of one agent, server, tool or day. */
export interface CallFigures {
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
  /** The most frequent codes of problems. */
  readonly errors: readonly { readonly code: string; readonly times: number }[];
  /** Tokens of results. Absent for days that they were not counted on. */
  readonly tokens?: number;
  /** Tokens of answers that find and describe tools, by agent and day. */
  readonly finding?: number;
  /** Milliseconds that half of the calls, 95 % and 99 % of them took at most. */
  readonly ms: Readonly<Record<"half" | "most" | "slowest", number | undefined>>;
}

export interface FiguresAnswer {
  /** False if the gateway keeps no audit log. */
  readonly kept: boolean;
  readonly agents: readonly CallFigures[];
  readonly servers: readonly CallFigures[];
  readonly tools: readonly CallFigures[];
  /** The newest first. */
  readonly days: readonly CallFigures[];
}

/** One call of a conversation. Arguments and results are not kept. */
export interface ConversationStep {
  readonly at: number;
  readonly operation: string;
  /** Needs that were searched for. */
  readonly queries: readonly string[];
  /** Addresses that were described or run. */
  readonly targets: readonly string[];
  /** Routes that a search found, best first. */
  readonly found: readonly string[];
  /** Routes that the guidance of an answer named. */
  readonly unveiled: readonly string[];
  readonly dryRun: boolean;
  readonly outcome: string;
  readonly tokens: number;
  readonly latencyMs: number;
  readonly traceId: string;
}

/** The calls of one agent, in order. */
export interface Conversation {
  readonly id: string;
  readonly principal: string;
  /** The name that the client gives of itself; empty if it gives none. */
  readonly client: string;
  readonly startedAt: number;
  readonly lastAt: number;
  readonly calls: number;
  readonly failed: number;
  readonly tokens: number;
  /** The newest calls, oldest first. */
  readonly steps: readonly ConversationStep[];
}

export interface SessionsAnswer {
  readonly sessions: readonly (Omit<Conversation, "steps"> & { readonly queries: readonly string[] })[];
}

/** The answer for the newest conversation while there is none. */
export interface NoSession {
  readonly id?: never;
}

export type SessionAnswer = Conversation & Pick<OverviewAnswer, "everything">;

export interface ApprovalsAnswer {
  /** Programs, logins and definitions that wait, and definitions that were rejected or changed their wording. */
  readonly servers: readonly WaitingServer[];
  readonly calls: readonly WaitingCall[];
  /** Whether the config of the servers can be changed here. */
  readonly isEditable: boolean;
}

export interface WaitingServer {
  readonly server: string;
  /** Names the source, for its start or login. */
  readonly id?: string;
  /** Why the server itself waits: for a yes to its program, or for a login. Absent if it does not. */
  readonly reason?: string;
  /** The program that waits for a yes. Absent if a person has approved it. */
  readonly program?: ShownProgram;
  /** Limits that are proposed for its process. */
  readonly proposal?: ShownProgram;
  /** All definitions that wait, by lane, also those that are not listed. */
  readonly waiting: {
    readonly lanes: Readonly<Partial<Record<Lane, number>>>;
    /** Those of them that try to steer a model. A yes to all leaves them out. */
    readonly flagged: number;
    /** Names exactly these definitions, for a decision about all of them. */
    readonly digest: string;
  };
  /** The first of them; a page of ten thousand would help nobody. */
  readonly definitions: readonly WaitingDefinition[];
}

/** The program, address or limits of a server, in whole lines, with the hash that a yes names. */
export interface ShownProgram {
  readonly hash: string;
  readonly lines: readonly string[];
}

/** A definition as a person judges it, as `listApprovals` lists it. */
export interface WaitingDefinition {
  readonly route: string;
  readonly state: string;
  readonly hash: string;
  readonly program: string;
  readonly effect: string;
  readonly tokens: number;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly changes: readonly DefinitionChange[];
  readonly warnings: readonly string[];
  /** The lane that a person marked it with, its own, and a milder one that it looks as if it had. */
  readonly lane?: Lane | undefined;
  readonly ownLane?: Lane;
  readonly milder?: Lane;
}

/** Everything that waits, for the parts of the console that stand on every page. */
export interface WaitingAnswer {
  readonly counts: WaitingCounts;
  readonly calls: readonly WaitingCall[];
}

/** A call that waits for a person at the console. */
export interface WaitingCall {
  readonly id: string;
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly why: string;
  readonly principal: string;
  readonly askedAt: number;
  /** Set if its client no longer waits: after a yes, the same call runs once. Names exactly this call. */
  readonly hash?: string;
}

export interface UnmetAnswer {
  readonly unmet: readonly {
    readonly query: string;
    readonly times: number;
    readonly empty: boolean;
    readonly shown: readonly string[];
    readonly lastAsked: number;
  }[];
}

export interface KnowledgeAnswer {
  readonly sources: readonly SourceShown[];
  readonly domains: readonly {
    readonly name: string;
    readonly description: string;
    readonly entries: Readonly<Record<string, number>>;
  }[];
}

export interface UpstreamsAnswer {
  /** Servers that are switched off, where the config can be changed here. */
  readonly off?: readonly string[];
  readonly upstreams: readonly {
    readonly id: string;
    readonly label: string;
    readonly state: string;
    readonly reason: string | undefined;
    readonly protocol: "modern" | "legacy" | undefined;
    readonly pid: number | undefined;
    readonly starts: number;
    readonly running: number;
    readonly waiting: number;
    readonly entries: number;
    readonly listedAt: number | undefined;
    readonly fromCache: boolean;
    readonly warnings: readonly string[];
    readonly program: ShownProgram;
    readonly tools: number;
    readonly tokens: number;
    /** False for folders, APIs and documents that Keyhole reads by itself. */
    readonly isUpstream: boolean;
    readonly isHttp: boolean;
    readonly needsConsent: boolean;
    /** Definitions that wait for a person. */
    readonly unapproved: number;
  }[];
}

/** A tool of a server, as its page shows it. */
export interface ShownTool {
  /** The server's own name for it. */
  readonly name: string;
  readonly op: string;
  readonly description: string;
  readonly lane: Lane;
  /** Tokens of its definition in the list of a client. */
  readonly tokens: number;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The rule of the config for asking before its calls, by the tool's own name and by patterns. */
  readonly ask?: AskWord;
  readonly askByPattern?: AskWord;
}

export type AskWord = "never" | "destructive" | "writes" | "always";

/** The fields that a person may change in the config of a server. Absent fields stay as they are. */
export interface ServerChange {
  /** A new server, as its command line or its address. */
  readonly add?: string;
  /** Another command line or address in place of its own. */
  readonly edit?: string;
  readonly disabled?: boolean;
  /** Hides a tool from all callers, or shows it again. */
  readonly hide?: { readonly tool: string; readonly hidden: boolean };
  /**
   * Whether a person is asked before calls of a tool, or of all tools whose names fit a pattern. Without `when`, as the
   * server's own setting says. Without `tool`, sets that one; without both, as the gateway says.
   */
  readonly ask?: { readonly tool?: string; readonly when?: AskWord };
  /** Another name for a tool, by the server's name for it; empty for the server's own. */
  readonly rename?: { readonly tool: string; readonly name: string };
  readonly remove?: true;
}

export interface ServerAnswer {
  readonly server: UpstreamsAnswer["upstreams"][number];
  /** Limits that are proposed for its process. */
  readonly proposal?: ShownProgram;
  readonly tools: readonly ShownTool[];
  /** Absent if the config of the server cannot be changed here. */
  readonly rules?: ServerRulesShown;
}

export interface LogAnswer {
  /** The newest last. */
  readonly lines: readonly string[];
}

export interface ServerRulesShown {
  /** The file that the changes go to. */
  readonly file: string;
  readonly hidden: readonly string[];
  /** Its own setting for asking before calls. */
  readonly asks?: AskWord;
  /** Rules by tool or pattern. */
  readonly ask: Readonly<Record<string, AskWord>>;
  /** Names that replace the server's own, which are the keys. */
  readonly names: Readonly<Record<string, string>>;
  /** Its command line or address. Absent for other kinds of servers. */
  readonly line?: string;
}

export type MeAnswer = Principal & { readonly admin: boolean };

export interface PrincipalsAnswer {
  readonly principals: readonly (Principal & {
    readonly entries: number;
    /** Tokens of the menu. */
    readonly menu: number;
    readonly everything: number;
  })[];
}

/** A setting as people see it. Secrets are never among them. */
export interface ShownSetting {
  readonly name: string;
  readonly value: unknown;
  /** The file, variable or option that it comes from. */
  readonly from: string;
}

export interface SettingsAnswer {
  readonly version: string;
  readonly node: string;
  readonly settings: readonly ShownSetting[];
}

/** The use by somebody, or of something. */
export interface UsageFigures {
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
  readonly tokens: number;
  /** Absent without prices. */
  readonly cost?: number;
}

export interface UsageAnswer {
  /** Whether usage is counted. */
  readonly kept: boolean;
  readonly currency?: string;
  readonly people: readonly UsageFigures[];
  readonly servers: readonly UsageFigures[];
  readonly tools: readonly UsageFigures[];
  readonly days: readonly UsageFigures[];
}

/** Prices of what people use. */
export interface UsagePrices {
  readonly currency?: string | undefined;
  /** The price of a million tokens that answers put into contexts. */
  readonly tokens?: number | undefined;
  /** The price of a call, by server. */
  readonly servers?: Readonly<Record<string, number>> | undefined;
  /** The price of a call, by tool. It wins over the price of the server. */
  readonly tools?: Readonly<Record<string, number>> | undefined;
}
