import type {
  CompleteRequestParams,
  Prompt,
  Resource,
  ResourceTemplateType,
  Tool,
} from "@modelcontextprotocol/client";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { injectionRules } from "../../base/safety/detect-injection.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleLine, toVisibleText } from "../../base/safety/visible-text.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { uniqueName } from "../../base/util/unique-name.ts";
import { laneOfTool } from "../../core/catalog/tool-lane.ts";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import {
  type EntryDraft,
  INSTRUCTIONS_PATH,
  type LazyDraft,
  type Presentation,
  type ReadableEntry,
} from "../../core/nouns/entry.ts";
import { askFor } from "./config/overrides.ts";
import { type Listed, toDefinition } from "./definition.ts";
import {
  checkOffered,
  type DraftOptions,
  laneOverride,
  overrideOf,
  requestForEntry,
} from "./entry-request.ts";
import { createLazyDrafts } from "./lazy-draft.ts";
import type { Listing } from "./listing.ts";
import type { PackedTool } from "./packed-tools.ts";
import { promptValue, resourceValue, textOf, toolValue } from "./result-value.ts";
import { skillToDrafts } from "./skill-to-drafts.ts";

const ERROR_CHARS = 4_000;
/** Clients also cut a server's instructions here. */
const INSTRUCTIONS_CHARS = 4_096;

/** A server with more tools than this gets lazy drafts. */
const MOST_READ = 50;

export interface ListingDrafts {
  readonly drafts: readonly EntryDraft[];
  readonly lazyDrafts: readonly LazyDraft[];
}

/** Turns a listing into entries of the label's domain. Deterministic. */
export function toDrafts(
  listing: Omit<Listing, "tools"> & { readonly tools: readonly PackedTool[] },
  options: DraftOptions,
): ListingDrafts {
  const { label } = options;
  // A document of that name gets another path.
  const ops = new Set<string>([INSTRUCTIONS_PATH.replace("/", ".")]);
  const toDraft = (tool: Tool, route: string) => toolDraft(tool, route, options);
  const nameOf = ({ name }: PackedTool) => overrideOf(name, options).name ?? name;
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
    ...(listing.instructions?.trim()
      ? [instructionsDraft(listing.instructions, listing.judged, options)]
      : []),
  ];
  const toLazyDraft = createLazyDrafts(options, toDraft);
  return { drafts, lazyDrafts: isLarge ? routes.map(([tool, route]) => toLazyDraft(tool, route)) : [] };
}

/** The instructions of a server as an entry, so that a person approves them like a tool. Help and menu show them. */
function instructionsDraft(
  instructions: string,
  judged: Listing["judged"],
  options: DraftOptions,
): EntryDraft {
  const name = "server instructions";
  const description = cutText(instructions.trim(), INSTRUCTIONS_CHARS);
  const route = `${options.label}://${INSTRUCTIONS_PATH}`;
  const { origin, ...draft } = common({ name, uri: "instructions:", description }, route, options);
  return {
    kind: "resource",
    ...draft,
    origin: { ...origin, ...(judged?.rules === injectionRules() && { injection: judged.injection }) },
    visibility: "hidden",
    inputSchema: {},
    outside: true,
    load: async () => description,
  };
}

function toolDraft(tool: Tool, route: string, options: DraftOptions): EntryDraft {
  const { label, timeoutMs } = options;
  const { name, description, hidden } = overrideOf(tool.name, options);
  const { readOnlyHint, idempotentHint } = tool.annotations ?? {};
  const ask = askFor(tool.name, options.askTools);
  // Drops the output schema, which the SDK would compile.
  const { outputSchema: _, ...toolDefinition } = tool;
  return {
    kind: "tool",
    ...common(tool, route, options),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(hidden && { visibility: "hidden" }),
    ...(ask && { ask }),
    lane: laneOverride(tool.name, options) ?? laneOfTool(tool),
    inputSchema: tool.inputSchema as JsonSchema,
    outside: true,
    requiresConfirmation: false,
    extraction: null,
    ...(timeoutMs !== undefined && { timeoutMs }),
    call: (args, context) =>
      requestForEntry(
        {
          method: "tools/call",
          target: tool.name,
          args,
          repeatable: readOnlyHint === true || idempotentHint === true,
          check: checkOffered(tool, (listing) => listing.tools.tools, route, options),
          send: (client, passed, request) => {
            const call = { name: tool.name, arguments: args, ...passed };
            // Only 2025-11-25 lists tools that must be called as tasks.
            const isTask = tool.execution?.taskSupport === "required" && client.getProtocolEra() === "legacy";
            if (!isTask) return client.callTool(call, { ...request, toolDefinition });
            const { signal, timeout } = request;
            return import("./call-task.ts").then(({ callTask }) =>
              callTask(client, call, { label, request: { signal, timeout }, caller: context.client }),
            );
          },
          toValue: async (result) => {
            if (!result.isError) return toolValue(result);
            const reason = toVisibleText(textOf(result.content ?? []), ERROR_CHARS) || "no reason given";
            throw await options.toProblem(reason);
          },
        },
        options,
        context,
      ),
  };
}

function promptDraft(prompt: Prompt, route: string, options: DraftOptions): EntryDraft {
  const { name, arguments: declared = [] } = prompt;
  const check = checkOffered(prompt, (listing) => listing.prompts, route, options);
  return {
    kind: "prompt",
    ...common(prompt, route, options),
    complete: completeArgument({ type: "ref/prompt", name }, check, options),
    inputSchema: textSchema(declared),
    load: (params, context) => {
      const args = Object.fromEntries(Object.entries(params).map(([key, value]) => [key, String(value)]));
      return requestForEntry(
        {
          method: "prompts/get",
          target: name,
          repeatable: true,
          check,
          send: (client, passed, request) => client.getPrompt({ name, arguments: args, ...passed }, request),
          toValue: promptValue,
        },
        options,
        context,
      );
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
    inputSchema: textSchema(names.map((name) => ({ name, required: true }))),
    load: async (params, context) => {
      const { UriTemplate } = await import("@modelcontextprotocol/client");
      const texts = Object.fromEntries(names.map((name) => [name, String(params[name])]));
      const uri =
        template === undefined ? (resource as Resource).uri : new UriTemplate(template).expand(texts);
      return requestForEntry(
        {
          method: "resources/read",
          repeatable: true,
          check,
          send: (client, passed, request) => client.readResource({ uri, ...passed }, request),
          toValue: resourceValue,
        },
        options,
        context,
      );
    },
  };
}

function textSchema(args: NonNullable<Prompt["arguments"]>): JsonSchema {
  const properties = args.map(({ name, description }) => [
    name,
    { type: "string", ...(description && { description }) },
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: args.filter(({ required }) => required).map(({ name }) => name),
  };
}

// Linear: the closing brace bounds each match.
const EXPRESSION = /\{[+#./;?&]?([^{}]*)\}/g;

/** Variable names of a URI template. The SDK could parse it, but is not loaded at the start. */
function templateVariables(template: string): string[] {
  const names = [...template.matchAll(EXPRESSION)].flatMap(([, inner = ""]) => inner.split(","));
  const plain = names.map((name) => name.replace(/\*$|:\d{1,5}$/, "").trim());
  return [...new Set(plain.filter((name) => name !== ""))];
}

function common(listed: Listed, route: string, options: DraftOptions) {
  const { label, program, trusted, wordingOk, approvedBy, status } = options;
  const { content, hash } = toDefinition(listed);
  const { name, title, description } = listed;
  // The server's own address of a document, which its results refer to.
  const { uri, uriTemplate, mimeType } = listed as Partial<Resource & ResourceTemplateType>;
  return {
    ...BARE_ENTRY,
    route,
    domain: label,
    name,
    description: description || title || name,
    phrases: title === undefined || title === name ? [] : [title],
    metadata: {
      ...(uri !== undefined && { uri }),
      ...(uriTemplate !== undefined && { uriTemplate: String(uriTemplate) }),
      ...(mimeType !== undefined && { mimeType }),
    },
    presentation: presentationOf(listed),
    origin: {
      ...{ source: label, program, definition: content, hash, trusted, wordingOk, approvedBy },
      ...("inputSchema" in listed && { lane: laneOverride(name, options) }),
    },
    ...(status && { status }),
  };
}

function presentationOf(listed: Listed): Presentation {
  const { title, annotations, outputSchema, icons, size, execution, _meta } = listed as Partial<
    Tool & Resource
  >;
  const runsAsTask = (execution?.taskSupport ?? "forbidden") !== "forbidden";
  return { title, annotations, icons, size, _meta, runsAsTask, outputSchema: outputSchema as JsonSchema };
}

const MAX_CHARS = 128;
const ILLEGAL = /[^A-Za-z0-9_.-]+/g;
const LEGAL = /^(?!\.{1,2}$)[A-Za-z0-9_.-]+$/;

/**
 * Gives each name a unique path: the name itself, or its characters that a route allows. If names collide, the first
 * keeps the plain path. Adds to `taken`.
 */
function assignPaths<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  taken: Set<string>,
  prefix = "",
): Map<T, string> {
  const named = items.map((item) => {
    const name = nameOf(item);
    const segment = toSegment(name);
    return { item, name, segment, isExact: segment === name };
  });
  // Names that need no change get their path first.
  named.sort((left, right) => {
    if (left.isExact !== right.isExact) return left.isExact ? -1 : 1;
    return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
  });
  return new Map(
    named.map(({ item, segment }) => [item, uniqueName(prefix + segment, taken).slice(prefix.length)]),
  );
}

function toSegment(name: string): string {
  if (name.length <= MAX_CHARS && LEGAL.test(name)) return name;
  const plain = cutText(name, MAX_CHARS).replace(ILLEGAL, "-");
  let from = 0;
  let to = plain.length;
  // No regular expression: one anchored at the end takes quadratic time on runs of hyphens.
  while (from < to && (plain[from] === "-" || plain[from] === ".") && plain !== name) from += 1;
  while (to > from && plain[to - 1] === "-" && plain !== name) to -= 1;
  const segment = plain.slice(from, to);
  return segment === "" || segment === "." || segment === ".." ? "unnamed" : segment;
}

/** Lets the server complete arguments, if it can. */
function completeArgument(
  ref: CompleteRequestParams["ref"],
  check: (listing: Listing) => void,
  { upstream }: DraftOptions,
): NonNullable<ReadableEntry["complete"]> {
  return async (argument, given, signal) => {
    // The caller is unknown, and completions may show the data of another person's login.
    if (upstream.people) return [];
    const { completion } = await upstream.run(
      {
        repeatable: true,
        check,
        work: async (client, options) => {
          if (!client.getServerCapabilities()?.completions) return { completion: { values: [] } };
          return client.complete({ ref, argument, context: { arguments: { ...given } } }, options);
        },
      },
      signal,
    );
    return completion.values.map((value) => toVisibleLine(hideSecrets(value)));
  };
}
