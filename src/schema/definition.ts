import type { z } from "zod";
import type {
  CallContext,
  Example,
  Lane,
  Policy,
  ReadBeforeWrite,
  RiskLevel,
  UndoStep,
  Visibility,
} from "./entry.ts";
import type { Entity, ExtractionSchema } from "./extraction.ts";
import type { Guidance } from "./guidance.ts";
import type { FromJsonSchema, JsonSchema } from "./json-schema.ts";
import type { ContentPipeline } from "./pipeline.ts";
import type { SearchConfig } from "./search-config.ts";

/** The schema of a tool's params or results: a zod object schema or a JSON Schema. */
export type InputSchema = z.ZodType | JsonSchema;

/** The type of the params that a schema accepts. */
export type ParamsOf<S> = S extends z.ZodType
  ? z.output<S>
  : S extends JsonSchema
    ? FromJsonSchema<S>
    : Record<string, unknown>;

interface EntryDefinition {
  readonly name: string;
  readonly description: string;
  /** `domain://tools/path` or `domain://resources/path`. Without it, a tool's route is derived from its name. */
  readonly route?: string;
  /** How the entry is found. Default: `listed`. */
  readonly visibility?: Visibility;
  /** Another spelling of {@link visibility}: `true` is `entry`, `false` is `hidden`. Give one of the two. */
  readonly searchable?: boolean;
  readonly requiredScopes?: readonly string[];
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly aliases?: readonly string[];
  readonly phrases?: readonly string[];
}

interface ToolFields extends EntryDefinition {
  /** Dotted op, such as `onto.task.list`. Replaces the op that is derived from the name. */
  readonly op?: string;
  readonly lane?: Lane;
  readonly riskLevel?: RiskLevel;
  readonly requiresConfirmation?: boolean;
  readonly relatedTools?: readonly string[];
  readonly extraction?: ExtractionSchema | null;
  readonly examples?: readonly Example[];
  readonly policy?: Policy;
  readonly notes?: readonly string[];
  /** Next steps that are always right after this tool. The result may add others. */
  readonly guidance?: readonly Guidance[];
  readonly timeoutMs?: number;
  /** Describes the object that the tool returns, in zod or JSON Schema. Native listings pass it on to clients. */
  readonly outputSchema?: InputSchema;
  /** Names the call that would undo one with this result. A script that fails half-way is answered with it. */
  undo?(params: Readonly<Record<string, unknown>>, result: unknown): UndoStep | undefined;
}

/** A tool as people write it. See {@link defineTool}. */
export interface ToolDefinition<S = undefined> extends ToolFields {
  readonly inputSchema?: S;
  execute(params: ParamsOf<S>, context: CallContext): unknown;
  /** Says what `execute` would do and changes nothing. */
  dryRun?(params: ParamsOf<S>, context: CallContext): unknown;
}

/** A tool with any input, as a domain holds it. See {@link ToolDefinition}. */
export interface AnyTool extends ToolFields {
  readonly inputSchema?: InputSchema | undefined;
  execute(params: Record<string, unknown>, context: CallContext): unknown;
  dryRun?(params: Record<string, unknown>, context: CallContext): unknown;
}

/** A resource as people write it: content that is loaded on demand. See {@link defineResource}. */
export interface ResourceDefinition extends EntryDefinition {
  readonly route: string;
  /** Body text for search. Search does not read the result of `fetch`. */
  readonly content?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  fetch(context: CallContext): unknown;
}

/** A domain as people write it: a named branch of knowledge. See {@link defineDomain}. */
export interface DomainDefinition {
  readonly name: string;
  readonly description: string;
  readonly tools?: readonly AnyTool[];
  readonly resources?: readonly ResourceDefinition[];
  readonly extractors?: readonly ContentPipeline[];
  readonly searchConfig?: SearchConfig;
  readonly requiredScopes?: readonly string[];
  /** Text for the whole domain, or one text for each category. */
  readonly rules?: string | Readonly<Record<string, string>>;
  /** Says whether a write warns, is refused or just runs if its session has not read the thing first. Default: `warn`. */
  readonly readBeforeWrite?: ReadBeforeWrite;
  /** By tool name or op: functions that find entities in results which no extraction schema can describe. */
  readonly entityExtractors?: Readonly<Record<string, (result: unknown) => Entity[]>>;
}
