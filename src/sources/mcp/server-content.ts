import { hash } from "node:crypto";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import { stricterAsk } from "../../core/calls/decide-call.ts";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import type { Domain, EntryDraft, EntryStatus, ReadBeforeWrite } from "../../core/nouns/entry.ts";
import type { AskBefore } from "../../core/nouns/question.ts";
import { listsTool } from "./config/overrides.ts";
import type { ServerConfig } from "./config/server-config.ts";
import { type DraftOptions, requestForEntry } from "./entry-request.ts";
import type { Listing } from "./listing.ts";
import type { PackedTool } from "./packed-tools.ts";
import type { ListingDrafts } from "./to-drafts.ts";

/** A server with the options for its domain. */
interface DescribedServer {
  readonly label: string;
  readonly config: ServerConfig;
  readonly description?: string;
  readonly scopes?: readonly string[];
  readonly readBeforeWrite?: ReadBeforeWrite;
  readonly ask?: AskBefore;
}

/** The tools that the config does not exclude. */
export function allowedTools(
  { tools }: Listing,
  { includeTools, excludeTools = [] }: ServerConfig,
): readonly PackedTool[] {
  return tools.tools.filter(
    ({ name }) => (!includeTools || listsTool(includeTools, name)) && !listsTool(excludeTools, name),
  );
}

export function toDomain(
  { label, description, scopes = [], readBeforeWrite, ...options }: DescribedServer,
  instructions: string | undefined,
): Domain {
  // Instructions with a heading are a manual and do not say what the server is for.
  const isManual = instructions?.trimStart().startsWith("#") === true;
  const summary = instructions && !isManual ? toSummary(toVisibleText(instructions), 300) : undefined;
  // The tools that the reader may see describe a server without a description.
  const text = description ?? summary ?? "";
  const { aliases } = options.config;
  const { ask = options.config.ask } = options;
  return {
    name: label,
    ...(aliases && { aliases }),
    description: text,
    scopes,
    rules: [],
    ...(readBeforeWrite && { readBeforeWrite }),
    ...(ask && { ask: stricterAsk(ask, options.config.ask) }),
  };
}

/** Placeholder for a server that was never listed, with the reason. */
export function placeholderContent(
  {
    label,
    config: { aliases = [] },
  }: { readonly label: string; readonly config: Pick<ServerConfig, "aliases"> },
  status: EntryStatus,
): EntryDraft {
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route: `${label}://resources/server`,
    domain: label,
    name: `${label} server`,
    description: `The server ${label}, which ${status.state === "starting" ? "is still starting" : "could not be listed yet"}.`,
    aliases: [label, ...aliases],
    status,
    load: async () => status,
  };
}

/** Lets people log in to a server that was never listed. The first login lists it. */
export function loginTool(options: DraftOptions): EntryDraft {
  const { label } = options;
  return {
    ...BARE_ENTRY,
    kind: "tool",
    route: `${label}://tools/log_in`,
    domain: label,
    name: "log_in",
    description: `Logs the person in to ${label}, whose tools are listed then. Answers with a link for the person.`,
    aliases: [label],
    lane: "read",
    requiresConfirmation: false,
    extraction: null,
    inputSchema: { type: "object", properties: {} },
    call: (_, context) =>
      requestForEntry(
        {
          method: "tools/list",
          repeatable: true,
          check: () => {},
          send: async () => ({}),
          toValue: () =>
            `Logged in to ${label}. Its tools can be used once the owner of the gateway has approved them.`,
        },
        options,
        context,
      ),
  };
}

/** Equal for drafts that produce the same catalog. */
export function toFingerprint({ drafts, lazyDrafts }: ListingDrafts): string {
  const whole = drafts.map(({ route, origin, status, presentation }) => [
    route,
    origin?.hash,
    origin?.program,
    status,
    presentation,
  ]);
  return hash("sha256", JSON.stringify([whole, lazyDrafts.map(({ route, digest }) => `${route} ${digest}`)]));
}
