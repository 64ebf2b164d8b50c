export type { Agent, AgentLimits, AgentModel, AgentOptions, AgentSession, ModelGiven } from "./agent.ts";
export { createAgent } from "./agent.ts";
export type { AgentEvent, AgentOutcome, SpanContext, TokenUse } from "./agent-event.ts";
export type { AgentsFile } from "./agents-file.ts";
export { readAgentsFile } from "./agents-file.ts";
export { askPermission } from "./ask.ts";
export type { Ask, AskAnswer, AskRequest } from "./ask-request.ts";
export { decide } from "./permissions/decide.ts";
export type {
  Decision,
  FileRequest,
  FileScope,
  PermissionPlace,
  PermissionRequest,
  PermissionScope,
  ShellRequest,
} from "./permissions/permission.ts";
export type { PermissionRules, RuleSet } from "./permissions/permission-rules.ts";
export { permissionRulesSchema, readRules } from "./permissions/permission-rules.ts";
export type {
  PermissionAnswer,
  PermissionQuestion,
  Permissions,
  PermissionsOptions,
  RuleStore,
} from "./permissions/permissions.ts";
export { createPermissions } from "./permissions/permissions.ts";
export type { RuleFile } from "./permissions/rule-file.ts";
export { createRuleFile } from "./permissions/rule-file.ts";
export { parseShell } from "./permissions/shell/parse-shell.ts";
export type {
  ParsedShell,
  Redirection,
  ShellWord,
  SimpleCommand,
} from "./permissions/shell/shell-command.ts";
export { toFileRequest, toShellRequest } from "./permissions/to-request.ts";
export type { StoredSession } from "./read-session.ts";
export type { RunOptions } from "./run.ts";
export { run } from "./run.ts";
export { tellRetry } from "./run-context.ts";
export type { SessionLog, SessionLogs, SessionLogsOptions, SessionSummary } from "./session-log.ts";
export { createSessionLogs } from "./session-log.ts";
export type { AgentError } from "./to-agent-error.ts";
export type { ToolFailure, ToolResponse } from "./workspace/tool-response.ts";
export { toFailure, toProblem } from "./workspace/tool-response.ts";
export type { Workspace, WorkspaceOptions } from "./workspace/workspace.ts";
export { createWorkspace } from "./workspace/workspace.ts";
export type { WorkspaceDomainOptions } from "./workspace/workspace-domain.ts";
export { workspaceDomain } from "./workspace/workspace-domain.ts";
export type { WorkspaceTool } from "./workspace/workspace-tool.ts";
