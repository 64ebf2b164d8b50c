import type { ApprovalFace } from "../../gateway/approvals.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { McpSource } from "../../sources/mcp/mcp-source.ts";
import type { Agent, AgentEffort } from "../loop/agent.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import type { ProviderSettings } from "../models/models-config.ts";
import type { PermissionMode } from "../permissions/permission.ts";
import type { Checkpoints } from "../workspace/checkpoints.ts";
import type { NamedAgent } from "./named-agents.ts";

interface RuleLists {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

export interface ChatSettings {
  readonly agent: { readonly dataDir?: string | undefined; readonly contextWindow?: number | undefined };
  readonly session: { readonly maxAgeDays: number };
  readonly permissions: { readonly user: RuleLists; readonly project: RuleLists };
  readonly telemetry: { readonly enabled: boolean; readonly endpoint: string };
}

/** An agent with its gateway, settings and model, as the chat needs them. */
export interface ChatParts {
  readonly agent: Agent;
  readonly gateway: Gateway;
  readonly loaded: { readonly settings: ChatSettings };
  readonly servers: readonly McpSource[];
  /** Asks about these servers in the chat, as the terminal's own screen does, and records the answers. */
  approve(servers: readonly string[], face: ApprovalFace): Promise<void>;
  readonly checkpoints: Checkpoints;
  readonly trusted: boolean;
  /** Sub-agents with a role. */
  readonly helpers: readonly NamedAgent[];
  /** The provider and model in use. */
  modelName(): string;
  /** The model alone, and the settings of all providers. */
  model(): string | undefined;
  /** Whether {@link setModel} has chosen it. */
  wasModelChosen(): boolean;
  providers(): ProviderSettings;
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  /** How much the model thinks; undefined if the provider decides. */
  effort(): AgentEffort | undefined;
  setEffort(level: AgentEffort | undefined): void;
  /**
   * Changes to another model of the same provider, or by `provider/name` of another one.
   * @throws PROVIDER_NOT_SUPPORTED
   */
  setModel(name: string): void;
  /** Keeps the key of a provider among the secrets, and uses it from now on. */
  keepKey(provider: string, key: string): Promise<void>;
  /** Passes events on, and records them if telemetry is on. */
  observe(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent>;
  /** Stops everything and deletes large results. */
  close(): Promise<void>;
}
