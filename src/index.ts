export type { JsonSchema } from "./base/json-schema/json-schema.ts";
export type { Problem, ProblemArguments } from "./base/problems/problem.ts";
export { isProblem, problem } from "./base/problems/problem.ts";
export type { ProblemCode } from "./base/problems/problems.ts";
export type { TokenCounter } from "./base/tokens/tokens.ts";
export { loadTokenCounter } from "./base/tokens/tokens.ts";
export type { Clock } from "./base/util/clock.ts";
export type { Pins, PinsOptions } from "./core/access/pins.ts";
export { createPins } from "./core/access/pins.ts";
export type { View } from "./core/access/view.ts";
export type { AuditStore } from "./core/audit/audit-store.ts";
export type { FileAuditStoreOptions } from "./core/audit/file-audit-store.ts";
export { createFileAuditStore } from "./core/audit/file-audit-store.ts";
export type { AuditOptions } from "./core/calls/auditor.ts";
export type { Approve } from "./core/calls/call-environment.ts";
export type { ApprovalRequest } from "./core/calls/decide-call.ts";
export type { Registry } from "./core/catalog/registry.ts";
export { readRegistry, writeRegistry } from "./core/catalog/registry.ts";
export type {
  AnyTool,
  DomainDefinition,
  InputSchema,
  ParamsOf,
  ResourceDefinition,
  ToolDefinition,
} from "./core/nouns/definition.ts";
export type {
  AskBefore,
  CallContext,
  Domain,
  Entity,
  Entry,
  EntryDraft,
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
export type { SearchConfig, SearchSegment } from "./core/nouns/search-config.ts";
export type { Source, SourceContent, SourceState } from "./core/nouns/source.ts";
export type { CallTrace } from "./core/nouns/span-context.ts";
export type { ErrorAnswer } from "./core/operations/error-answer.ts";
export type { Limits } from "./core/operations/operation.ts";
export type { OperationName, OperationSpelling, SpeltOperation } from "./core/operations/operations.ts";
export { renderWorkingMemory } from "./core/operations/show-session.ts";
export type { WorkingMemory } from "./core/sessions/working-memory.ts";
export type { DiskResultStore, DiskResultStoreOptions } from "./core/storage/disk-result-store.ts";
export { createDiskResultStore } from "./core/storage/disk-result-store.ts";
export type { Idempotency } from "./core/storage/idempotency.ts";
export type { ResultStore } from "./core/storage/result-store.ts";
export type { Session, SessionStore, SessionStoreOptions } from "./core/storage/session-store.ts";
export { createSqliteSessionStore } from "./core/storage/session-store.ts";
export type { SpentApprovals } from "./core/storage/spent-approvals.ts";
export type { OpenStorage, Storage, StorageOptions } from "./core/storage/storage.ts";
export type { MenuOptions } from "./core/surfaces/menu.ts";
export type { MenuTool, NativeNames } from "./core/surfaces/native-tools.ts";
export type { Surface } from "./core/surfaces/surface-names.ts";
export type { DiscoveryFigures } from "./core/telemetry/discovery.ts";
export type { KeyholeEvent, McpEvent } from "./core/telemetry/events.ts";
export { onEvent } from "./core/telemetry/events.ts";
export type {
  AnthropicTools,
  OpenAITool,
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
  GatewaySources,
  LifecycleOptions,
  OperationAnswer,
  OperationInput,
  OperationMethods,
  RepeatedSequence,
} from "./gateway/gateway-api.ts";
export type { LedgerReport } from "./gateway/ledger.ts";
export type { SourceStatus } from "./gateway/start/followed-source.ts";
export type { LifecycleResult } from "./gateway/start/source-manager.ts";
export { createToolbox, type Toolbox, type ToolboxOptions } from "./gateway/toolbox.ts";
export type { LearningOptions } from "./search/learning/learning.ts";
export type { LearningLog } from "./search/learning/learning-log.ts";
export type { UnmetQuery } from "./search/learning/learning-state.ts";
export type { Visibility } from "./search/port/search-index.ts";
export { defineDomain, defineResource, defineTool } from "./sources/code/define.ts";
