import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { problem } from "../../base/problems/problem.ts";
import type { CallContext, EntryStatus, Lane } from "../../core/nouns/entry.ts";
import type { TracedRequest } from "../../core/nouns/span-context.ts";
import type { ToolOverride, ToolRules } from "./config/overrides.ts";
import { type Listed, toDefinition } from "./definition.ts";
import type { Listing } from "./listing.ts";
import type { PackedTool } from "./packed-tools.ts";
import {
  asksFirst,
  type PassedRequest,
  passError,
  passThrough,
  toQuestion,
  traceRequest,
} from "./pass-through.ts";
import { hasRelativePath } from "./seen-client.ts";
import type { Upstream } from "./upstream.ts";

/** The server that drafts call. */
export interface DraftOptions {
  readonly label: string;
  /** Identifies the program or the address behind the server. */
  readonly program: string;
  readonly trusted: boolean;
  /** Changed descriptions alone need no new approval. */
  readonly wordingOk: boolean;
  /** The command that a person types to approve definitions. */
  readonly approvedBy: string;
  readonly upstream: Upstream;
  readonly status: EntryStatus | undefined;
  readonly timeoutMs: number | undefined;
  /** Lanes that a person has set, by tool name. */
  readonly lanes: Readonly<Record<string, Lane>>;
  /** A person's words about tools, by the server's names for them. */
  readonly tools: Readonly<Record<string, ToolOverride>>;
  /** The calls of single tools that a person has to approve, by name or pattern. */
  readonly askTools: NonNullable<ToolRules["askTools"]>;
  readonly transport: TracedRequest["transport"];
  /** The address of a server over HTTP. */
  readonly url: string | undefined;
}

/** A request to a server on behalf of an entry. */
export interface EntryRequest<T extends object> {
  readonly method: string;
  /** The tool or prompt that the trace names. */
  readonly target?: string;
  /** Whether running it twice is harmless. */
  readonly repeatable: boolean;
  /** The arguments of a call. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** Throws a problem if the server no longer offers the entry as it was listed. */
  check(listing: Listing): void;
  /** Sends the request. `passed` belongs to its params. */
  send(client: Client, passed: PassedRequest["params"], options: RequestOptions): Promise<T>;
  /** Turns the result, without secrets, into the value of the call. */
  toValue(result: T): unknown;
}

/** Sends a request within the call that needs it. Returns its value, or the question that the server asks first. */
export async function requestForEntry<T extends object>(
  request: EntryRequest<T>,
  options: DraftOptions,
  { signal, client: caller, trace }: Pick<CallContext, "signal" | "client" | "trace">,
): Promise<unknown> {
  const { repeatable, check, method, target, args = {} } = request;
  const { label, transport, url } = options;
  const traced: TracedRequest = {
    method,
    server: label,
    transport,
    ...(url !== undefined && { url }),
    ...(target !== undefined && { target }),
  };
  const result = await options.upstream.run(
    {
      repeatable,
      caller,
      asking: options,
      usesFolder: hasRelativePath(args),
      check,
      work: (client, bounds) =>
        traceRequest(trace, traced, (meta) => {
          const passed = passThrough(client, caller, options, meta);
          return request
            .send(client, passed.params, { ...bounds, ...passed.options })
            .catch(passError(caller));
        }),
    },
    signal,
  );
  if (asksFirst(result)) return toQuestion(result, options);
  caller?.passOn?.(result);
  return request.toValue(result);
}

/** Refuses a call if the definition has changed since it was listed. */
export function checkOffered(
  listed: Listed,
  among: (listing: Listing) => readonly (Listed | PackedTool)[],
  route: string,
  { trusted }: Pick<DraftOptions, "trusted">,
): (listing: Listing) => void {
  const { hash } = toDefinition(listed);
  return (listing) => {
    if (trusted) return;
    // The name is part of the definition and compared first, because a server may have thousands of tools.
    if (among(listing).some((other) => other.name === listed.name && hashOf(other) === hash)) return;
    const reason = "the server no longer offers it as it was listed";
    throw problem("UNAVAILABLE", { name: route, state: "quarantined", reason });
  };
}

function hashOf(listed: Listed | PackedTool): string {
  return "shortHash" in listed ? (listed as PackedTool).hash : toDefinition(listed as Listed).hash;
}

/** The lane that the config gives a tool. */
export function laneOverride(
  tool: string,
  { lanes, tools }: Pick<DraftOptions, "lanes" | "tools">,
): Lane | undefined {
  return overrideOf(tool, { tools }).lane ?? (Object.hasOwn(lanes, tool) ? lanes[tool] : undefined);
}

export function overrideOf(tool: string, { tools }: Pick<DraftOptions, "tools">): ToolOverride {
  return Object.hasOwn(tools, tool) ? tools[tool]! : {};
}
