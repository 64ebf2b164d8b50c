export type { Pins, PinsOptions } from "./access/pins.ts";
export { createPins } from "./access/pins.ts";
export type { View } from "./access/view.ts";
export type { AuditStore } from "./audit/audit-store.ts";
export type { FileAuditStoreOptions } from "./audit/file-audit-store.ts";
export { createFileAuditStore } from "./audit/file-audit-store.ts";
export type { Approve } from "./calls/call-environment.ts";
export type { ApprovalRequest } from "./calls/decide-call.ts";
export type { Registry } from "./catalog/registry.ts";
export { readRegistry, writeRegistry } from "./catalog/registry.ts";
export { createGateway } from "./gateway.ts";
export type { Answer, CallOptions, Gateway, GatewayOptions } from "./gateway-api.ts";
export type { ErrorAnswer } from "./operations/error-answer.ts";
export { renderWorkingMemory } from "./operations/render-working-memory.ts";
export type { AnthropicTools } from "./plain-tools/anthropic-tools.ts";
export { toAnthropicTools } from "./plain-tools/anthropic-tools.ts";
export type { OpenAIToolsDomain } from "./plain-tools/from-openai-tools.ts";
export { fromOpenAITools } from "./plain-tools/from-openai-tools.ts";
export { toLangChainTools } from "./plain-tools/langchain-tools.ts";
export type { OpenAITool, OpenAITools } from "./plain-tools/openai-tools.ts";
export { toOpenAITools } from "./plain-tools/openai-tools.ts";
export type {
  AnyTool,
  DomainDefinition,
  InputSchema,
  ParamsOf,
  ResourceDefinition,
  ToolDefinition,
} from "./schema/definition.ts";
export type { CallContext, Domain, Entry, EntryDraft, Lane, Rule, Visibility } from "./schema/entry.ts";
export type { Entity } from "./schema/extraction.ts";
export type { Guidance } from "./schema/guidance.ts";
export type { JsonSchema } from "./schema/json-schema.ts";
export type {
  ContentFormat,
  ContentPipeline,
  ContentSource,
  FetchContext,
  RawContent,
  RawDocument,
  ResourceNode,
} from "./schema/pipeline.ts";
export type { Principal } from "./schema/principal.ts";
export type { Problem } from "./schema/problem.ts";
export { isProblem, problem } from "./schema/problem.ts";
export type { ProblemCode } from "./schema/problems.ts";
export type { Source, SourceContent } from "./schema/source.ts";
export type { CallTrace } from "./schema/span-context.ts";
export type { LearningOptions } from "./search/learning/learning.ts";
export type { UnmetQuery } from "./search/learning/learning-state.ts";
export { createSqliteSessionStore } from "./session/create-sqlite-session-store.ts";
export type { DiskResultStore, DiskResultStoreOptions } from "./session/disk-result-store.ts";
export { createDiskResultStore } from "./session/disk-result-store.ts";
export type { ResultStore } from "./session/result-store.ts";
export type { Session, SessionStore, SessionStoreOptions } from "./session/session-store.ts";
export type { WorkingMemory } from "./session/working-memory.ts";
export { defineDomain, defineResource, defineTool } from "./sources/code/define.ts";
export { createPostgresState } from "./state/postgres-state.ts";
export type { PostgresState, PostgresStateOptions } from "./state/postgres-state-api.ts";
export type { MenuTool } from "./surfaces/menu-tool.ts";
export type { KeyholeEvent, McpEvent } from "./telemetry/events.ts";
export { onEvent } from "./telemetry/events.ts";
export type { Toolbox, ToolboxOptions } from "./toolbox.ts";
export { createToolbox } from "./toolbox.ts";
export type { Clock } from "./util/clock.ts";
export type { TokenCounter } from "./util/tokens.ts";
export { loadTokenCounter } from "./util/tokens.ts";
