import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import type { Skill } from "@modelcontextprotocol/server/ext/skills";
import { LRUCache } from "lru-cache";
import type { View } from "../access/view.ts";
import type { Gateway } from "../gateway-api.ts";
import { coreOf } from "../gateway-core.ts";
import type { ReadableEntry } from "../schema/entry.ts";
import type { Principal } from "../schema/principal.ts";
import type { MenuOptions } from "../surfaces/menu.ts";
import type { MenuTool } from "../surfaces/menu-tool.ts";
import { createFaceToolbox, type FaceToolbox } from "../toolbox.ts";
import { LARGEST_RESULT } from "./client-limits.ts";
import { type InstructionsOption, toInstructions } from "./instructions.ts";
import { listPrompts } from "./prompts.ts";
import { listResources } from "./resources.ts";
import { listSkills } from "./skills.ts";

/** The lists for clients with the same view, made once for each catalog. */
export interface Listing {
  readonly version: string;
  readonly tools: readonly Tool[];
  readonly toolbox: FaceToolbox;
  readonly prompts: readonly Prompt[];
  readonly promptEntries: ReadonlyMap<string, ReadableEntry>;
  readonly resources: readonly Resource[];
  readonly resourceEntries: ReadonlyMap<string, ReadableEntry>;
  readonly templates: readonly ResourceTemplateType[];
  readonly templateEntries: ReadonlyMap<string, ReadableEntry>;
  readonly skills: readonly Skill[];
  readonly instructions: string;
}

export interface Listings {
  /** Waits for no server that is starting. */
  for(principal: Principal | undefined): Promise<{ listing: Listing; principal: Principal }>;
}

export interface ListingOptions extends MenuOptions {
  readonly instructions?: InstructionsOption;
}

const SIGHTS = 64;

export function createListings(gateway: Gateway, options: ListingOptions): Listings {
  const made = new LRUCache<string, { readonly version: string; readonly listing: Promise<Listing> }>({
    max: SIGHTS,
  });

  async function listingFor(given: Principal | undefined) {
    const view = await coreOf(gateway).shown(given);
    const { principal } = view;
    // Learned shortcuts may differ between principals who see the same entries.
    const learned = options.learnedShortcuts ? await coreOf(gateway).chooseShortcuts(view, options) : [];
    const key = JSON.stringify([view.scopeKey, principal.allowWrite, learned]);
    const known = made.get(key);
    if (known?.version === view.version) return { listing: await known.listing, principal };
    const listing = createListing(gateway, view, options);
    made.set(key, { version: view.version, listing });
    listing.catch(() => made.delete(key));
    return { listing: await listing, principal };
  }

  return { for: listingFor };
}

async function createListing(gateway: Gateway, view: View, options: ListingOptions): Promise<Listing> {
  const toolbox = await createFaceToolbox(gateway, { ...options, view });
  return {
    version: view.version,
    tools: toolbox.entries.size > 0 ? (toolbox.tools as readonly Tool[]) : toolbox.tools.map(alwaysLoaded),
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
function alwaysLoaded(tool: MenuTool): Tool {
  const meta = { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": LARGEST_RESULT };
  return { ...(tool as Tool), _meta: { ...tool._meta, ...meta } };
}
