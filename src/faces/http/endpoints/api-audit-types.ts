// Answers of the JSON API about the audit log and the keys of agents, for endpoints and the console alike.

/** A record of the audit log, with the fields of every kind of record. A call that ran is one row, of kind `call`. */
export interface ShownRecord {
  readonly seq: number;
  readonly at: string;
  readonly hash: string;
  readonly kind: string;
  readonly actor?: string;
  readonly principal?: string;
  readonly op?: string;
  readonly route?: string;
  readonly name?: string;
  readonly what?: string;
  readonly lane?: string;
  readonly decided?: string;
  readonly approvedBy?: string;
  readonly outcome?: string;
  readonly ms?: number;
  readonly args?: Readonly<Record<string, string>>;
  readonly traceId?: string;
}

export interface AuditAnswer {
  /** False if the gateway keeps no audit log. */
  readonly kept: boolean;
  readonly records: readonly ShownRecord[];
  /** Names the place before the oldest row, if there are older ones: `before` of the next page. */
  readonly older?: string;
  readonly damaged: number;
}

export interface AuditReport {
  readonly chains: readonly {
    readonly name: string;
    readonly records: number;
    readonly notes: readonly string[];
    readonly head: { readonly seq: number; readonly hash: string } | undefined;
    readonly bad: { readonly place: string; readonly reason: string } | undefined;
  }[];
}

/** The key of an agent that calls over HTTP, without the key itself. */
export interface AgentKey {
  readonly name: string;
  /** The principal that calls with it. */
  readonly id: string;
  readonly scopes: readonly string[];
  readonly allowWrite: boolean;
  /** The choice of servers and tools that it is pinned to. */
  readonly profile?: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
}

export interface AgentsAnswer {
  /** False if the gateway has no keys that can be made here. */
  readonly kept: boolean;
  readonly agents: readonly AgentKey[];
}
