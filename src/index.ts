export type { DefinitionChange } from "./access/diff-definitions.ts";
export type { Pin, PinSelection, PinState, Pins, PinsOptions } from "./access/pins.ts";
export { createPins } from "./access/pins.ts";
export type { View } from "./access/view.ts";
export type { Approval, Approve } from "./calls/call-environment.ts";
export type { ApprovalRequest } from "./calls/decide-call.ts";
export type { Registry, RegistryOp } from "./catalog/registry.ts";
export { readRegistry, writeRegistry } from "./catalog/registry.ts";
export { createGateway } from "./gateway.ts";
export type {
  Answer,
  CallOptions,
  Gateway,
  GatewayOptions,
  LifecycleOptions,
} from "./gateway-api.ts";
export type { LedgerReport } from "./ledger.ts";
export type { FailedSource, LifecycleResult, SourceStatus } from "./live-sources.ts";
export type { AskOutput } from "./operations/ask-input.ts";
export type { ErrorAnswer } from "./operations/error-answer.ts";
export type { Limits } from "./operations/operation.ts";
export { renderWorkingMemory } from "./operations/render-working-memory.ts";
export type {
  AnthropicTool,
  AnthropicToolResult,
  AnthropicTools,
  AnthropicToolUse,
} from "./plain-tools/anthropic-tools.ts";
export { toAnthropicTools } from "./plain-tools/anthropic-tools.ts";
export { toLangChainTools } from "./plain-tools/langchain-tools.ts";
export type {
  OpenAITool,
  OpenAIToolCall,
  OpenAIToolMessage,
  OpenAITools,
} from "./plain-tools/openai-tools.ts";
export { toOpenAITools } from "./plain-tools/openai-tools.ts";
export { BARE_ENTRY } from "./schema/bare-entry.ts";
export type {
  AnyTool,
  DomainDefinition,
  InputSchema,
  ParamsOf,
  ResourceDefinition,
  ToolDefinition,
} from "./schema/definition.ts";
export type {
  CallContext,
  CallingClient,
  EntryDraft,
  EntryStatus,
  Example,
  FieldError,
  Kind,
  Lane,
  Origin,
  Policy,
  RiskLevel,
  SearchConfig,
  SearchSegment,
  SkillManifest,
  SkillManifestFile,
  Visibility,
} from "./schema/entry.ts";
export type { Entity, ExtractionSchema } from "./schema/extraction.ts";
export type { Guidance, GuidedContent } from "./schema/guidance.ts";
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
export { PROBLEMS } from "./schema/problems.ts";
export type { Freshness, Source, SourceContent } from "./schema/source.ts";
export type {
  Explanation,
  SearchDocument,
  SearchFilter,
  SearchHit,
  SearchIndex,
  SearchRequest,
  SearchStatus,
} from "./search/port/search-index.ts";
export { createSqliteSessionStore } from "./session/create-sqlite-session-store.ts";
export type { DiskResultStore, DiskResultStoreOptions } from "./session/disk-result-store.ts";
export { createDiskResultStore } from "./session/disk-result-store.ts";
export { createMemorySessionStore } from "./session/memory-session-store.ts";
export type { ResultStore } from "./session/result-store.ts";
export type { Session, SessionStore, SessionStoreOptions } from "./session/session-store.ts";
export type { Cause, Tokens } from "./session/tokens-by-cause.ts";
export type { KeptResult, MemoryChange, ToolUse, WorkingMemory } from "./session/working-memory.ts";
export { defineDomain, defineResource, defineTool } from "./sources/code/define.ts";
export type { MenuOptions } from "./surfaces/menu.ts";
export type { MenuTool } from "./surfaces/menu-tool.ts";
export type { NativeNames } from "./surfaces/native-tools.ts";
export type { Surface, SurfaceOptions } from "./surfaces/surface.ts";
export type { KeyholeEvent, NoticeEvent, OperationEvent, SourceEvent } from "./telemetry/events.ts";
export { onEvent } from "./telemetry/events.ts";
export type { ToolAnswer, Toolbox, ToolboxOptions } from "./toolbox.ts";
export { createToolbox } from "./toolbox.ts";
export type { Clock } from "./util/clock.ts";
export type { TokenCounter } from "./util/tokens.ts";
export { loadTokenCounter } from "./util/tokens.ts";
