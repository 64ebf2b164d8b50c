import type { AcceptedLimits } from "../../../core/access/accepted-limits.ts";
import type { Entry } from "../../../core/nouns/entry.ts";
import type { Principal } from "../../../core/nouns/principal.ts";
import type { ServerProgram } from "../../../core/nouns/server-program.ts";
import type { Gateway } from "../../../gateway/gateway-api.ts";
import type { AgentKey } from "./api-audit-types.ts";
import type { ServerChange, ServerRulesShown, ShownSetting, UsagePrices } from "./api-types.ts";
import type { EndpointCall } from "./endpoint.ts";
import type { ApprovalQueue } from "./live-events.ts";
import type { CallRecorder, RecorderOptions } from "./recorder.ts";

/** Decides which servers may start. */
export interface StartConsents {
  isGiven(program: ServerProgram): boolean | Promise<boolean>;
  /** `by` names the person or program that consents. */
  give(programs: readonly ServerProgram[], by: string): Promise<void>;
}

/** Changes the config of servers. */
export interface ServerEditor {
  /** Undefined for a server that stands elsewhere. */
  rulesOf(label: string): Promise<ServerRulesShown | undefined>;
  /** The names of servers that are switched off. */
  off(): Promise<readonly string[]>;
  change(label: string, change: ServerChange): Promise<void>;
}

/** The keys of agents that call over HTTP. */
export interface AgentKeys {
  list(): Promise<readonly AgentKey[]>;
  /** Makes a key, which is shown once. Rejects with INVALID_INPUT. */
  add(wanted: NewAgentKey, by: string): Promise<string>;
  /** False if there is none of that name. */
  revoke(name: string, by: string): Promise<boolean>;
}

export interface NewAgentKey extends Pick<AgentKey, "name" | "scopes" | "allowWrite" | "profile"> {
  /** A time from now, such as `30d`, or a date; empty for never. */
  readonly expires: string;
}

/** Everything that the endpoints work with. */
export interface ConsoleParts {
  readonly gateway: Gateway;
  readonly recorder: CallRecorder;
  readonly approvals: ApprovalQueue;
  /**
   * The gateway that serves a caller: that of its profile, with the rights that both allow.
   *
   * @throws PROFILE_REFUSED
   */
  enter(principal: Principal): Promise<{ readonly gateway: Gateway; readonly principal: Principal }>;
  /** The principals that a person may search as, the gateway's own first. */
  principals(): Promise<readonly Principal[]>;
  readonly consents?: StartConsents | undefined;
  /** Limits of servers' processes. Without them, none are proposed. */
  readonly acceptedLimits?: AcceptedLimits | undefined;
  readonly editor?: ServerEditor | undefined;
  readonly agents?: AgentKeys | undefined;
  /** How a client of this name would list tools by itself. */
  readonly wayOf?: RecorderOptions["wayOf"];
  readonly settings?: (() => Promise<readonly ShownSetting[]>) | undefined;
  readonly prices?: UsagePrices | undefined;
  /** Whether callers of the surface can run scripts. */
  readonly runsScripts: boolean;
  /** Whether a person at the console makes the request, and no program. */
  isPerson(call: Pick<EndpointCall, "request">): Promise<boolean>;
  /** A link that opens the console once. */
  createLink(): string;
}

/** How many entries there are of each kind. */
export function countKinds(entries: readonly Pick<Entry, "kind">[]): Record<string, number> {
  const kinds = Object.entries(Object.groupBy(entries, ({ kind }) => kind));
  return Object.fromEntries(kinds.map(([kind, list]) => [kind, list.length]));
}
