export type { JsonSchema } from "./base/json-schema/json-schema.ts";
export type { GuardedFetch, GuardOptions } from "./base/net/guarded-fetch.ts";
export { createGuardedFetch } from "./base/net/guarded-fetch.ts";
export type { Problem, ProblemArguments } from "./base/problems/problem.ts";
export { isProblem, problem } from "./base/problems/problem.ts";
export type { ProblemCode } from "./base/problems/problems.ts";
export type { Secret } from "./base/safety/known-secrets.ts";
export type { TokenCounter } from "./base/tokens/tokens.ts";
export { loadTokenCounter } from "./base/tokens/tokens.ts";
export type { Clock } from "./base/util/clock.ts";
export type { Json } from "./base/util/json.ts";
export type { Bounds, OpenStorage, Storage, StorageOptions } from "./base/util/storage.ts";
export type { DefinitionChange } from "./core/access/diff-definitions.ts";
export type { Pin, PinSelection, Pins, PinsOptions } from "./core/access/pins.ts";
export { createPins } from "./core/access/pins.ts";
export type { View } from "./core/access/view.ts";
export type { AuditChain, AuditEvent, AuditLine, AuditStore } from "./core/audit/audit-store.ts";
export type { FileAuditStoreOptions } from "./core/audit/chain-writer.ts";
export { createFileAuditStore } from "./core/audit/file-audit-store.ts";
export type { AuditOptions } from "./core/calls/auditor.ts";
export type { Approve } from "./core/calls/call-environment.ts";
export type { ApprovalRequest } from "./core/calls/decide-call.ts";
export type { Registry, RegistryOp } from "./core/catalog/registry.ts";
export { defineDomain, defineResource, defineTool } from "./core/nouns/define.ts";
export type {
  AnyTool,
  DomainDefinition,
  InputSchema,
  ParamsOf,
  ResourceDefinition,
  ToolArgs,
  ToolDefinition,
} from "./core/nouns/definition.ts";
export type {
  BoundScript,
  CallContext,
  Domain,
  Draft,
  Entity,
  Entry,
  EntryDraft,
  FindRequest,
  FoundEntry,
  Guidance,
  Lane,
  ReadBeforeWrite,
  Rule,
} from "./core/nouns/entry.ts";
export type {
  ContentFormat,
  ContentPipeline,
  ContentSource,
  FetchContext,
  RawContent,
  RawDocument,
  ResourceNode,
} from "./core/nouns/pipeline.ts";
export type { Principal } from "./core/nouns/principal.ts";
export type { Approval, AskBefore, ToolQuestion } from "./core/nouns/question.ts";
export type { SearchConfig, SearchSegment } from "./core/nouns/search-config.ts";
export type { SandboxLimits, ServerProgram } from "./core/nouns/server-program.ts";
export type { Freshness, Source, SourceContent, SourceState } from "./core/nouns/source.ts";
export type { CallTrace, TracedCall, TracedRequest } from "./core/nouns/span-context.ts";
export type { ErrorAnswer } from "./core/operations/error-answer.ts";
export type { Limits } from "./core/operations/operation.ts";
export type { OperationName, OperationSpelling, SpeltOperation } from "./core/operations/operations.ts";
export { renderWorkingMemory } from "./core/operations/show-session.ts";
export type { MemoryChange, WorkingMemory } from "./core/sessions/working-memory.ts";
export type { DiskResultStore, DiskResultStoreOptions } from "./core/storage/disk-result-store.ts";
export { createDiskResultStore } from "./core/storage/disk-result-store.ts";
export type { Idempotency, KeyedAnswer, KeyedCall } from "./core/storage/idempotency.ts";
export type { PostgresClient } from "./core/storage/postgres-client.ts";
export type { ResultStore } from "./core/storage/result-store.ts";
export type { Session, SessionStore, SessionStoreOptions } from "./core/storage/session-store.ts";
export { createSqliteSessionStore } from "./core/storage/session-store.ts";
export type { SpentApprovals } from "./core/storage/spent-approvals.ts";
export type { MenuOptions } from "./core/surfaces/menu.ts";
export type { MenuTool, NativeNames } from "./core/surfaces/native-tools.ts";
export type { Surface } from "./core/surfaces/surface-names.ts";
export type { DiscoveryFigures } from "./core/telemetry/discovery.ts";
export type {
  KeyholeEvent,
  McpEvent,
  NoticeEvent,
  OperationEvent,
  SearchEvent,
  SearchUsedEvent,
  SourceEvent,
} from "./core/telemetry/events.ts";
export { onEvent } from "./core/telemetry/events.ts";
export type { ExporterStatus } from "./core/telemetry/otlp-exporter.ts";
export type { Telemetry, TelemetryOptions } from "./core/telemetry/start-telemetry.ts";
export { startTelemetry } from "./core/telemetry/start-telemetry.ts";
export type {
  AnthropicToolResult,
  AnthropicTools,
  AnthropicToolUse,
  OpenAITool,
  OpenAIToolCall,
  OpenAIToolMessage,
  OpenAITools,
  OpenAIToolsDomain,
} from "./faces/plain-tools/plain-tools.ts";
export {
  fromOpenAITools,
  toAnthropicTools,
  toLangChainTools,
  toOpenAITools,
} from "./faces/plain-tools/plain-tools.ts";
export { createGateway } from "./gateway/create-gateway.ts";
export type {
  Answer,
  CallOptions,
  Gateway,
  GatewayOptions,
  GatewayReport,
  GatewaySources,
  LifecycleOptions,
  OperationAnswer,
  OperationInput,
  OperationMethods,
  ReadAnswer,
  RepeatedSequence,
  TypedExecInput,
  TypedGateway,
} from "./gateway/gateway-api.ts";
export type { LedgerReport } from "./gateway/ledger.ts";
export type { SourceStatus } from "./gateway/start/followed-source.ts";
export type { LifecycleResult } from "./gateway/start/source-manager.ts";
export type { ToolAnswer, Toolbox, ToolboxOptions } from "./gateway/toolbox.ts";
export { createToolbox } from "./gateway/toolbox.ts";
