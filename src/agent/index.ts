export type { Agent, AgentModel, AgentOptions, AgentSession } from "./agent.ts";
export { createAgent } from "./agent.ts";
export type { AgentEvent } from "./agent-event.ts";
export { askPermission } from "./ask.ts";
export type { Ask } from "./ask-request.ts";
export type {
  PermissionAnswer,
  PermissionQuestion,
  Permissions,
  PermissionsOptions,
} from "./permissions/permissions.ts";
export { createPermissions } from "./permissions/permissions.ts";
export type { RunOptions } from "./run.ts";
export { run } from "./run.ts";
export { tellRetry } from "./run-context.ts";
export type { SessionLogs, SessionLogsOptions } from "./session-log.ts";
export { createSessionLogs } from "./session-log.ts";
export type { WorkspaceDomainOptions } from "./workspace/workspace-domain.ts";
export { workspaceDomain } from "./workspace/workspace-domain.ts";
