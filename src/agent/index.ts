export type { Agent, AgentHooks, AgentLimits, AgentModel, AgentOptions, AgentSession } from "./loop/agent.ts";
export { createAgent } from "./loop/agent.ts";
export type { AgentEvent, PromptFile } from "./loop/agent-event.ts";
export type { RunOptions } from "./loop/run.ts";
export { run } from "./loop/run.ts";
export type { Ask } from "./loop/run-context.ts";
export { tellRetry } from "./loop/run-context.ts";
export type { SessionLogs, SessionLogsOptions } from "./loop/session-log.ts";
export { createSessionLogs } from "./loop/session-log.ts";
export type { OutputSchema } from "./models/model-answer.ts";
export type { PermissionMode, PermissionRules } from "./permissions/permission.ts";
export type {
  PermissionAnswer,
  PermissionQuestion,
  Permissions,
  PermissionsOptions,
  RuleStore,
} from "./permissions/permissions.ts";
export { createPermissions } from "./permissions/permissions.ts";
export type { WorkspaceDomainOptions } from "./workspace/workspace-domain.ts";
export { workspaceDomain } from "./workspace/workspace-domain.ts";
