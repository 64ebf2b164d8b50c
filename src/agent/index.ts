export type {
  Agent,
  AgentHooks,
  AgentLimits,
  AgentModel,
  AgentOptions,
  AgentSession,
  ModelGiven,
} from "./loop/agent.ts";
export { createAgent } from "./loop/agent.ts";
export type { AgentEvent, PromptFile, UserMessage } from "./loop/agent-event.ts";
export type { StoredSession } from "./loop/read-session.ts";
export type { RunOptions } from "./loop/run.ts";
export { run } from "./loop/run.ts";
export type { Ask, AskRequest, HookedCall } from "./loop/run-context.ts";
export { tellRetry } from "./loop/run-context.ts";
export type { SessionLog, SessionLogs, SessionLogsOptions, SessionSummary } from "./loop/session-log.ts";
export { createSessionLogs } from "./loop/session-log.ts";
export type { FileScope, PermissionMode, PermissionRules } from "./permissions/permission.ts";
export type {
  InCall,
  PermissionAnswer,
  PermissionOutcome,
  PermissionQuestion,
  Permissions,
  PermissionsOptions,
  Preview,
  RuleStore,
} from "./permissions/permissions.ts";
export { createPermissions } from "./permissions/permissions.ts";
export type { WorkspaceDomainOptions } from "./workspace/workspace-domain.ts";
export { workspaceDomain } from "./workspace/workspace-domain.ts";
