import { z } from "zod";
import type { FromJsonSchema, JsonSchema } from "../../base/json-schema/json-schema.ts";
import type { Visibility } from "../../search/port/search-index.ts";
import type {
  CallContext,
  Entity,
  Example,
  ExtractionSchema,
  Guidance,
  Lane,
  Policy,
  ReadBeforeWrite,
  UndoStep,
} from "./entry.ts";
import type { ContentPipeline } from "./pipeline.ts";
import { ASKS, type AskBefore } from "./question.ts";
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
  /** `domain://tools/path` or `domain://resources/path`. Default for a tool: derived from its name. */
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
  /** Dotted op, such as `onto.task.list`. Default: derived from the name. */
  readonly op?: string;
  readonly lane?: Lane;
  /** Risk of the tool. Its lane is never weaker. */
  readonly riskLevel?: "safe" | "moderate" | "destructive";
  readonly requiresConfirmation?: boolean;
  /** The tool asks a person itself, by the `ask` of its call, so Keyhole does not ask before it runs. */
  readonly asksItself?: boolean;
  /** `ends`: show the end of a long text and a little of its beginning. Default: the beginning. */
  readonly look?: "ends";
  readonly relatedTools?: readonly string[];
  readonly extraction?: ExtractionSchema | null;
  readonly examples?: readonly Example[];
  readonly policy?: Policy;
  readonly notes?: readonly string[];
  /** Next steps that always follow this tool. The result may add more. */
  readonly guidance?: readonly Guidance[];
  readonly timeoutMs?: number;
  /** Schema of the returned object, in zod or JSON Schema. Native listings pass it on to clients. */
  readonly outputSchema?: InputSchema;
  /** Names the call that undoes a call with this result. A script that fails half-way is answered with it. */
  undo?(params: Readonly<Record<string, unknown>>, result: unknown): UndoStep | undefined;
}

/** A tool as people write it: with its schema, its name, and its own op or route. See {@link defineTool}. */
export interface ToolDefinition<S = undefined, N extends string = string, A extends string = string>
  extends ToolFields {
  readonly name: N;
  readonly op?: A;
  readonly route?: A;
  readonly inputSchema?: S;
  execute(params: ParamsOf<S>, context: CallContext): unknown;
  /** Describes what `execute` would do and changes nothing. */
  dryRun?(params: ParamsOf<S>, context: CallContext): unknown;
}

/** A tool with any input, as in the list of a domain. See {@link ToolDefinition}. */
export interface AnyTool extends ToolFields {
  readonly inputSchema?: InputSchema | undefined;
  execute(params: Record<string, unknown>, context: CallContext): unknown;
  dryRun?(params: Record<string, unknown>, context: CallContext): unknown;
}

/** A resource as people write it: content that is loaded on demand. See {@link defineResource}. */
export interface ResourceDefinition extends EntryDefinition {
  readonly route: string;
  /** Body text for search, which does not read the result of `fetch`. */
  readonly content?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  fetch(context: CallContext): unknown;
}

/** A domain as people write it: a named branch of knowledge. See {@link defineDomain}. */
export interface DomainDefinition<
  N extends string = string,
  T extends readonly AnyTool[] = readonly AnyTool[],
> {
  readonly name: N;
  readonly description: string;
  readonly tools?: T;
  readonly resources?: readonly ResourceDefinition[];
  readonly extractors?: readonly ContentPipeline[];
  readonly searchConfig?: SearchConfig;
  readonly requiredScopes?: readonly string[];
  /** Text for the whole domain, or one text for each category. */
  readonly rules?: string | Readonly<Record<string, string>>;
  /**
   * Whether a write warns, is refused or just runs if its session has not read the thing first. Default: warn about
   * changes, but not about tools that create something.
   */
  readonly readBeforeWrite?: ReadBeforeWrite;
  /** Which calls of its tools need a person's approval, if the gateway's `ask` is less strict. */
  readonly ask?: AskBefore;
  /** Functions that find entities in results which no extraction schema can describe, by tool name or op. */
  readonly entityExtractors?: Readonly<Record<string, (result: unknown) => Entity[]>>;
}

/** The args of tools in code, by `domain.name` or by their own op or route. */
export type ToolArgs<D extends readonly DomainDefinition[]> = {
  [T in AddressedTool<D[number]> as T["address"]]: T["args"];
};

type AddressedTool<D> = D extends DomainDefinition<infer N, infer T> ? AddressedIn<N, T[number]> : never;

type AddressedIn<D extends string, T> =
  T extends ToolDefinition<infer S, infer N, infer A>
    ? { readonly address: KnownText<A, KnownText<N, never, `${D}.${N}`>>; readonly args: ArgsOf<S> }
    : never;

/** `Known` for a literal text type, not for `string` or a template. */
type KnownText<T extends string, Otherwise, Known = T> =
  Record<never, never> extends Record<T, 1> ? Otherwise : Known;

type ArgsOf<S> = S extends z.ZodType ? z.input<S> : S extends JsonSchema ? FromJsonSchema<S> : object;

/** Schemas of definitions, created on demand: most gateways of the program have no domain in code. */
export function definitionSchemas() {
  const words = z.array(z.string().min(1)).optional();
  const guidanceSchema = z.object({
    route: z.string().min(1),
    prose: z.string().min(1),
    params: z.record(z.string(), z.unknown()).optional(),
  });

  const schemaSchema = z.custom<InputSchema>(
    (value) => value instanceof Object,
    "must be a zod or JSON schema",
  );

  const entryFields = {
    name: z.string().min(1).max(256),
    description: z.string().trim().min(1),
    visibility: z.enum(["entry", "listed", "hidden"]).optional(),
    searchable: z.boolean().optional(),
    requiredScopes: words,
    category: z.string().min(1).optional(),
    tags: words,
    aliases: words,
    phrases: words,
  };

  const hasOneVisibility = (entry: { readonly visibility?: unknown; readonly searchable?: unknown }) =>
    entry.visibility === undefined || entry.searchable === undefined;
  const TWICE = "give visibility or searchable, not both";

  /** Also checks definitions from plain JavaScript. */
  const tool = z
    .object({
      ...entryFields,
      route: z.string().optional(),
      op: z.string().optional(),
      inputSchema: schemaSchema.optional(),
      outputSchema: schemaSchema.optional(),
      lane: z.enum(["read", "write", "destructive"]).optional(),
      riskLevel: z.enum(["safe", "moderate", "destructive"]).optional(),
      requiresConfirmation: z.boolean().optional(),
      asksItself: z.boolean().optional(),
      look: z.literal("ends").optional(),
      relatedTools: words,
      extraction: z
        .object({
          path: z.string().min(1),
          type: z.string().min(1),
          nameField: z.string().min(1),
          idField: z.string().min(1).optional(),
          isArray: z.boolean().optional(),
        })
        .nullish(),
      examples: z
        .array(z.object({ args: z.record(z.string(), z.unknown()), note: z.string().optional() }))
        .optional(),
      policy: z.object({ do: words, dont: words, edgeCases: words }).optional(),
      notes: words,
      guidance: z.array(guidanceSchema).optional(),
      timeoutMs: z.number().int().positive().optional(),
      execute: z.custom((value) => typeof value === "function", "must be a function"),
      dryRun: z.custom((value) => typeof value === "function", "must be a function").optional(),
      undo: z.custom((value) => typeof value === "function", "must be a function").optional(),
    })
    .refine(hasOneVisibility, TWICE);

  const resource = z
    .object({
      ...entryFields,
      route: z.string(),
      content: z.string().optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
      fetch: z.custom((value) => typeof value === "function", "must be a function"),
    })
    .refine(hasOneVisibility, TWICE);

  const pipelineSchema = z.object({
    source: z.object({ name: z.string().min(1) }).loose(),
    formats: z.array(z.object({ name: z.string().min(1) }).loose()).min(1),
    basePath: z.string().optional(),
    cacheTtlMs: z.number().int().nonnegative().optional(),
    scopes: words,
  });

  /** Checks a domain definition, without its tools and resources. */
  const domain = z.object({
    name: z
      .string()
      .regex(
        /^[a-z][a-z0-9_-]*$/i,
        "must be letters, digits, hyphens and underscores, starting with a letter",
      ),
    description: z.string().trim().min(1),
    requiredScopes: words,
    rules: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
    extractors: z.array(pipelineSchema).optional(),
    readBeforeWrite: z.enum(["warn", "refuse", "off"]).optional(),
    ask: z.enum(ASKS).optional(),
    searchConfig: z
      .object({
        queryBy: z.string().optional(),
        weights: z.string().optional(),
        segments: z
          .array(
            z.object({
              name: z.string(),
              filter: z.string(),
              limit: z.number().int().positive(),
              priority: z.number(),
            }),
          )
          .optional(),
      })
      .optional(),
  });
  return { tool, resource, domain };
}
