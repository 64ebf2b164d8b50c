import type { Tool } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { toSummary } from "../../base/util/to-summary.ts";
import type { View } from "../../core/access/view.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { domainsBySize, listNames } from "../../core/operations/describe-directory.ts";
import { waitingLine } from "../../core/operations/missing-servers.ts";
import { OPERATIONS } from "../../core/operations/operations.ts";
import type { MenuOptions } from "../../core/surfaces/menu.ts";
import type { MenuTool } from "../../core/surfaces/native-tools.ts";
import { type SurfaceOptions, surfaceTools } from "../../core/surfaces/surface.ts";
import { faceApiOf } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { createFaceToolbox } from "../../gateway/toolbox.ts";
import { listPrompts, listSkills } from "./prompts.ts";
import { LARGEST_RESULT } from "./request.ts";
import { listResources } from "./resources.ts";

/** The lists for clients with the same view and habits, made once for each catalog. */
export type ToolListing = Awaited<ReturnType<typeof createListing>>;

export type Listings = ReturnType<typeof createListings>;

interface ListingOptions extends MenuOptions {
  readonly instructions?: InstructionsOption | undefined;
}

const MAX_LISTINGS = 64;

export function createListings(gateway: Gateway, options: ListingOptions) {
  const face = faceApiOf(gateway);
  const listings = new LRUCache<string, { version: string; listing: Promise<ToolListing> }>({
    max: MAX_LISTINGS,
  });

  async function listingFor(given: Principal | undefined) {
    const view = await face.view("usable", given);
    const { principal } = view;
    const hasHabits = (await face.habitsOf(view)).length > 0;
    const key = JSON.stringify([view.scopeKey, principal.allowWrite, hasHabits && principal.id]);
    const cached = listings.get(key);
    if (cached?.version === view.version) return { listing: await cached.listing, view, principal };
    const listing = createListing(gateway, view, options);
    listings.set(key, { version: view.version, listing });
    listing.catch(() => listings.delete(key));
    return { listing: await listing, view, principal };
  }

  return {
    /** A client's lists, with the view that they were made from. Waits for no server that is starting. */
    for: listingFor,
  };
}

async function createListing(gateway: Gateway, view: View, options: ListingOptions) {
  const toolbox = await createFaceToolbox(gateway, { ...options, view });
  return {
    version: view.version,
    tools: (toolbox.entries.size > 0 ? toolbox.tools : toolbox.tools.map(alwaysLoaded)) as readonly Tool[],
    toolbox,
    ...listPrompts(view),
    ...listResources(view),
    skills: listSkills(view),
    instructions: toInstructions(view, options),
  };
}

/**
 * Keeps the few tools out of the tool search that some clients put in front of every server, and their answers out
 * of files.
 */
function alwaysLoaded(tool: MenuTool): MenuTool {
  const meta = { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": LARGEST_RESULT };
  return { ...tool, _meta: { ...tool._meta, ...meta } };
}

/** The facts that instructions are made of, as far as the caller may see them. */
export interface InstructionContext {
  readonly domainCount: number;
  /** Number of tools, skills and prompts. */
  readonly routeCount: number;
  readonly resourceCount: number;
  readonly domains: readonly { readonly name: string; readonly description: string }[];
}

/** The instructions, or a function that writes them. Default: Keyhole writes its own. */
export type InstructionsOption = string | ((context: InstructionContext) => string);

/** One client shows only the first 150 characters, so the domains come first, with descriptions if those fit too. */
const SEEN_CHARS = 125;
const DOMAIN_CHARS = 1_000;

function toInstructions(view: View, { instructions, ...surface }: ListingOptions): string {
  if (typeof instructions === "string") return instructions;
  const resourceCount = view.shown.filter((entry) => entry.kind === "resource").length;
  const context: InstructionContext = {
    domainCount: view.domains.size,
    routeCount: view.shown.length - resourceCount,
    resourceCount,
    domains: [...view.domains.values()].map(({ name, description }) => ({ name, description })),
  };
  return instructions ? instructions(context) : ownInstructions(view, surface);
}

function ownInstructions(view: View, surface: SurfaceOptions): string {
  const uses = surfaceTools(surface).map(
    ({ name, operation }) => `${name} ${OPERATIONS[operation].introduction}`,
  );
  return [
    `Tools and documents of ${listDomains(view) || "no domain yet"}.`,
    uses.length > 0 ? `${uses.join(", ")}.` : [],
    "Look here before you say that something cannot be done.",
    waitingLine(view) ?? [],
  ]
    .flat()
    .join(" ");
}

/** Each domain once. What they hold is in the menu. */
function listDomains(view: View): string {
  const names = domainsBySize(view);
  const described = names.map((name) => {
    const { description } = view.domains.get(name)!;
    return description === "" ? name : `${name} (${toSummary(description, SEEN_CHARS).replace(/\.$/, "")})`;
  });
  const whole = described.join(", ");
  return whole.length <= SEEN_CHARS ? whole : listNames(names, DOMAIN_CHARS);
}
