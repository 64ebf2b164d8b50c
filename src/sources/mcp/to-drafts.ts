import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/client";
import { hideSecrets } from "../../net/known-secrets.ts";
import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { EntryDraft, KeptDraft, Lane, Presentation } from "../../schema/entry.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { problem } from "../../schema/problem.ts";
import type { TracedRequest } from "../../schema/span-context.ts";
import { toVisibleText } from "../../util/visible-text.ts";
import { assignPaths } from "./assign-paths.ts";
import { callTask, needsTask } from "./call-task.ts";
import { checkOffered } from "./check-offered.ts";
import { completeArgument } from "./complete-argument.ts";
import type { ToolOverride } from "./config/overrides.ts";
import { type Listed, toDefinition } from "./definition.ts";
import type { DraftOptions } from "./draft-options.ts";
import { keptDraft, keptServer } from "./kept-draft.ts";
import type { Listing } from "./listing.ts";
import type { PackedTool } from "./packed-tools.ts";
import { asksFirst, passError, passThrough, toQuestion } from "./pass-through.ts";
import { promptValue, resourceValue, textOf, toolValue } from "./result-value.ts";
import { skillToDrafts } from "./skill-to-drafts.ts";
import { traceRequest } from "./trace-request.ts";
import { templateVariables } from "./uri-template.ts";

const ERROR_CHARS = 4_000;

/** Tools of a server that has more than these are read when they are needed. */
const MOST_READ = 50;

export interface ListingDrafts {
  readonly drafts: readonly EntryDraft[];
  readonly kept: readonly KeptDraft[];
}

/** Turns a listing into entries of the label's domain. Deterministic. */
export function toDrafts(
  listing: Omit<Listing, "tools"> & { readonly tools: readonly PackedTool[] },
  options: DraftOptions,
): ListingDrafts {
  const ops = new Set<string>();
  const { label } = options;
  const toDraft = (tool: Tool, route: string) => toolDraft(tool, route, options);
  const server = keptServer(options, toDraft);
  const nameOf = ({ name }: PackedTool) =>
    server.hasOverrides ? (overrideOf(name, options).name ?? name) : name;
  const tools = assignPaths(listing.tools, nameOf, ops);
  const prompts = assignPaths(listing.prompts, ({ name }) => name, ops, "prompts.");
  const documents = [...listing.resources, ...listing.templates];
  const resources = assignPaths(documents, ({ name }) => name, ops, "resources.");
  const listed = new Set(listing.resources.map(({ uri }) => uri));
  const skills = listing.skills.map((skill) => ({
    uri: skill.uri,
    drafts: skillToDrafts(skill, listed.has(skill.uri), ops, options),
  }));
  // A resource that is also a skill becomes one entry, the skill.
  const served = new Set(skills.filter(({ drafts }) => drafts.length > 0).map(({ uri }) => uri));
  const routes = [...tools].map(([tool, path]) => [tool, `${label}://tools/${path}`] as const);
  const isLarge = routes.length > MOST_READ;
  const drafts = [
    ...(isLarge ? [] : routes.map(([tool, route]) => toDraft(tool.read(), route))),
    ...[...prompts].map(([prompt, path]) => promptDraft(prompt, `${label}://prompts/${path}`, options)),
    ...[...resources]
      .filter(([resource]) => !("uri" in resource && served.has(resource.uri)))
      .map(([resource, path]) => resourceDraft(resource, `${label}://resources/${path}`, options)),
    ...skills.flatMap((skill) => skill.drafts),
  ];
  return { drafts, kept: isLarge ? routes.map(([tool, route]) => keptDraft(server, tool, route)) : [] };
}

function toolDraft(tool: Tool, route: string, options: DraftOptions): EntryDraft {
  const { upstream, label, timeoutMs, lanes } = options;
  const { lane } = overrideOf(tool.name, options);
  const { readOnlyHint, idempotentHint } = tool.annotations ?? {};
  // Drops the output schema, which the SDK would compile.
  const { outputSchema: _, ...toolDefinition } = tool;
  return {
    kind: "tool",
    ...common(tool, route, options),
    ...overridden(tool.name, options),
    ...laneOf(tool, lane === undefined ? lanes : { [tool.name]: lane }),
    inputSchema: tool.inputSchema as JsonSchema,
    outside: true,
    requiresConfirmation: false,
    extraction: null,
    ...(timeoutMs !== undefined && { timeoutMs }),
    call: async (params, { signal, client: caller, trace }) => {
      const result = await upstream.run(
        {
          repeatable: readOnlyHint === true || idempotentHint === true,
          caller,
          check: checkOffered(tool, (listing) => listing.tools.tools, route, options),
          work: (client, request, callTool) =>
            traceRequest(trace, about("tools/call", options, tool.name), (meta) => {
              const passed = passThrough(client, caller, options, meta);
              const call = { name: tool.name, arguments: params, ...passed.params };
              const answer = needsTask(tool, client)
                ? callTask(client, call, { label, signal, request, caller })
                : callTool(call, { ...request, ...passed.options, toolDefinition });
              return answer.catch(passError(caller));
            }),
        },
        signal,
      );
      if (asksFirst(result)) return toQuestion(result, options);
      const shown = hideSecrets(result);
      caller?.passOn?.(shown);
      if (!shown.isError) return toolValue(shown);
      const reason = toVisibleText(textOf(shown.content ?? []), ERROR_CHARS) || "no reason given";
      throw problem("UPSTREAM_ERROR", { server: label, reason }, { server: label });
    },
  };
}

function about(method: string, { label, transport, url }: DraftOptions, target?: string): TracedRequest {
  return {
    method,
    server: label,
    transport,
    ...(url !== undefined && { url }),
    ...(target !== undefined && { target }),
  };
}

function promptDraft(prompt: Prompt, route: string, options: DraftOptions): EntryDraft {
  const taken = prompt.arguments ?? [];
  const check = checkOffered(prompt, (listing) => listing.prompts, route, options);
  return {
    kind: "prompt",
    ...common(prompt, route, options),
    complete: completeArgument({ type: "ref/prompt", name: prompt.name }, check, options),
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(
        taken.map(({ name, description }) => [name, { type: "string", ...(description && { description }) }]),
      ),
      required: taken.filter(({ required }) => required).map(({ name }) => name),
    },
    load: async (params, { signal, client: caller, trace }) => {
      const texts = Object.entries(params).map(([name, value]) => [name, String(value)]);
      const result = await options.upstream.run(
        {
          repeatable: true,
          caller,
          check,
          work: (client, request) =>
            traceRequest(trace, about("prompts/get", options, prompt.name), (meta) => {
              const passed = passThrough(client, caller, options, meta);
              return client
                .getPrompt(
                  { name: prompt.name, arguments: Object.fromEntries(texts), ...passed.params },
                  { ...request, ...passed.options },
                )
                .catch(passError(caller));
            }),
        },
        signal,
      );
      if (asksFirst(result)) return toQuestion(result, options);
      const shown = hideSecrets(result);
      caller?.passOn?.(shown);
      return promptValue(shown);
    },
  };
}

function resourceDraft(
  resource: Resource | ResourceTemplateType,
  route: string,
  options: DraftOptions,
): EntryDraft {
  const template = "uriTemplate" in resource ? String(resource.uriTemplate) : undefined;
  const names = template === undefined ? [] : templateVariables(template);
  const listed = (listing: Listing) => [...listing.resources, ...listing.templates];
  const check = checkOffered(resource, listed, route, options);
  return {
    kind: "resource",
    ...common(resource, route, options),
    ...(template !== undefined && {
      complete: completeArgument({ type: "ref/resource", uri: template }, check, options),
    }),
    outside: true,
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
      required: names,
    },
    load: async (params, { signal, client: caller, trace }) => {
      const { UriTemplate } = await import("@modelcontextprotocol/client");
      const texts = Object.fromEntries(names.map((name) => [name, String(params[name])]));
      const uri =
        template === undefined ? (resource as Resource).uri : new UriTemplate(template).expand(texts);
      const result = await options.upstream.run(
        {
          repeatable: true,
          caller,
          check,
          work: (client, request) =>
            traceRequest(trace, about("resources/read", options), (meta) => {
              const passed = passThrough(client, caller, options, meta);
              return client
                .readResource({ uri, ...passed.params }, { ...request, ...passed.options })
                .catch(passError(caller));
            }),
        },
        signal,
      );
      if (asksFirst(result)) return toQuestion(result, options);
      const shown = hideSecrets(result);
      caller?.passOn?.(shown);
      return resourceValue(shown);
    },
  };
}

function common(listed: Listed, route: string, { label, program, trusted, status }: DraftOptions) {
  const { content, hash } = toDefinition(listed);
  const title = listed.title === undefined || listed.title === listed.name ? [] : [listed.title];
  return {
    ...BARE_ENTRY,
    route,
    domain: label,
    name: listed.name,
    description: listed.description || listed.title || listed.name,
    phrases: title,
    metadata: addressOf(listed),
    presentation: presentationOf(listed),
    origin: { source: label, program, definition: content, hash, trusted },
    ...(status && { status }),
  };
}

function overrideOf(name: string, { tools }: DraftOptions): ToolOverride {
  return Object.hasOwn(tools, name) ? tools[name]! : {};
}

/** The fields that a person has replaced. */
function overridden(tool: string, options: DraftOptions) {
  const { name, description, hidden } = overrideOf(tool, options);
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(hidden && { visibility: "hidden" as const }),
  };
}

/** Returns the server's own address of a document; its results refer to it. */
function addressOf(listed: Listed): Readonly<Record<string, string>> {
  const { uri, uriTemplate, mimeType } = listed as Partial<Resource & ResourceTemplateType>;
  return {
    ...(uri !== undefined && { uri }),
    ...(uriTemplate !== undefined && { uriTemplate: String(uriTemplate) }),
    ...(mimeType !== undefined && { mimeType }),
  };
}

function presentationOf(listed: Listed): Presentation {
  const { title, annotations, outputSchema, icons, size, execution, _meta } = listed as Partial<
    Tool & Resource
  >;
  const { taskSupport = "forbidden" } = execution ?? {};
  return {
    ...(title !== undefined && { title }),
    ...(annotations && { annotations }),
    ...(outputSchema && { outputSchema: outputSchema as JsonSchema }),
    ...(icons && { icons }),
    ...(size !== undefined && { size }),
    ...(taskSupport !== "forbidden" && { runsAsTask: true }),
    ...(_meta && { _meta }),
  };
}

/**
 * A person's word for the tool decides. A server's hints can only make the lane stricter than the tool's name
 * implies, except that a hint to read counts if the name implies nothing.
 */
function laneOf({ name, annotations = {} }: Tool, lanes: DraftOptions["lanes"]): LaneClaims {
  const { readOnlyHint, destructiveHint } = annotations;
  const defaultLane = "write";
  if (Object.hasOwn(lanes, name)) return { lane: lanes[name]!, riskLevel: "safe", defaultLane };
  if (destructiveHint === true) return { lane: "destructive", riskLevel: "safe", defaultLane };
  if (readOnlyHint === true) return { riskLevel: "safe", defaultLane: "read" };
  const isWrite = destructiveHint === false || readOnlyHint === false;
  return { riskLevel: isWrite ? "moderate" : "safe", defaultLane };
}

interface LaneClaims {
  readonly lane?: Lane;
  readonly riskLevel: "safe" | "moderate";
  /** The lane if the name implies none. */
  readonly defaultLane: Lane;
}
