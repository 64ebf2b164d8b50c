import type { Client, Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/client";
import { readArgumentHeaders } from "../../schema/argument-headers.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { toVisibleText } from "../../util/visible-text.ts";
import { type Listed, type ListedSkill, toDefinition } from "./definition.ts";
import { fetchSkills } from "./fetch-skills.ts";
import { type PackedTools, packTools } from "./packed-tools.ts";
import { readTools, toolPageSchema } from "./read-tools.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";

const MAX_PAGES = 1_024;

/** Everything that a server offers. */
export interface Listing {
  readonly instructions?: string;
  readonly tools: PackedTools;
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
  readonly skills: readonly ListedSkill[];
  /** Parts that could not be listed completely. */
  readonly warnings: readonly string[];
  /** Parts over the limits of a listing, such as "20 of its tools after the first 50000". */
  readonly leftOut: readonly string[];
}

/** Notes of a listing while it is made, and how many entries of a kind it may hold. */
interface Notes {
  readonly warnings: string[];
  readonly leftOut: string[];
  readonly maxEntries: number;
}

interface Page<T extends Listed> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
}

/**
 * Lists everything that a connected server offers. Throws only if the tools cannot be listed. Over HTTP
 * (`inHeaders`) the newer protocol repeats some arguments in headers.
 */
export async function fetchListing(
  client: Client,
  { connectMs: timeout, maxEntries }: Pick<UpstreamLimits, "connectMs" | "maxEntries">,
  inHeaders: boolean,
): Promise<Listing> {
  const warnings: string[] = [];
  const leftOut: string[] = [];
  const notes: Notes = { warnings, leftOut, maxEntries };
  const options = { timeout };
  const {
    tools: hasTools,
    prompts: hasPrompts,
    resources: hasResources,
  } = client.getServerCapabilities() ?? {};
  const tolerate = async <T>(what: string, list: Promise<T[]>): Promise<T[]> =>
    list.catch((error: unknown) => {
      warnings.push(`its ${what} cannot be listed: ${reasonOf(error)}`);
      return [];
    });

  const tools = hasTools
    ? await walk("tools", notes, async (cursor) => {
        const page = await client.request(
          { method: "tools/list", params: at(cursor) },
          toolPageSchema,
          options,
        );
        const listed = await readTools(page.tools, warnings);
        const repeats = inHeaders && client.getProtocolEra() === "modern";
        const items = repeats ? listed.filter((tool) => isCallable(tool, warnings)) : listed;
        return { items, next: page.nextCursor };
      })
    : [];
  const prompts = walk("prompts", notes, async (cursor) => {
    if (!hasPrompts) return { items: [] };
    const page = await client.request({ method: "prompts/list", params: at(cursor) }, options);
    return { items: page.prompts, next: page.nextCursor };
  });
  const resources = walk("resources", notes, async (cursor) => {
    if (!hasResources) return { items: [] };
    const page = await client.request({ method: "resources/list", params: at(cursor) }, options);
    return { items: page.resources, next: page.nextCursor };
  });
  const templates = walk("resource templates", notes, async (cursor) => {
    if (!hasResources) return { items: [] };
    const page = await client.request({ method: "resources/templates/list", params: at(cursor) }, options);
    return { items: page.resourceTemplates, next: page.nextCursor };
  });
  const skills = fetchSkills(client, timeout, warnings);
  // Awaited together, so that an early failure is never an unhandled rejection.
  const [listedPrompts, listedResources, listedTemplates, listedSkills] = await Promise.all([
    tolerate("prompts", prompts),
    tolerate("resources", resources),
    tolerate("resource templates", templates),
    tolerate("skills", skills),
  ]);
  const instructions = client.getInstructions();
  return {
    ...(instructions !== undefined && { instructions }),
    tools: packTools(tools),
    prompts: listedPrompts,
    resources: listedResources,
    templates: listedTemplates,
    skills: listedSkills.filter((skill) => isSound(skill, warnings)).slice(0, maxEntries),
    warnings,
    leftOut,
  };
}

/** Follows cursors to the end, to a repeated cursor, or to a limit. Notes what is over the limit. */
async function walk<T extends Listed>(
  what: string,
  { warnings, leftOut, maxEntries }: Notes,
  fetchPage: (cursor: string | undefined) => Promise<Page<T>>,
): Promise<T[]> {
  const items: T[] = [];
  const seen = new Set<string>();
  let over = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items: more, next } = await fetchPage(cursor);
    for (const item of more) {
      if (!isSound(item, warnings)) continue;
      if (items.length < maxEntries) items.push(item);
      else over += 1;
    }
    if (next === undefined || next === "") return cut(over);
    if (seen.has(next)) {
      warnings.push(`it has a list of ${what} that begins again; the first ${items.length} are listed`);
      return cut(over);
    }
    seen.add(next);
    cursor = next;
  }
  return cut("an unknown number");

  function cut(left: number | string): T[] {
    if (left !== 0) leftOut.push(`${left} of its ${what} after the first ${items.length}`);
    return items;
  }
}

/** Drops a definition that is nested too deeply to be read. */
function isSound(item: Listed, warnings: string[]): boolean {
  try {
    toDefinition(item);
    return true;
  } catch {
    warnings.push(`the definition of ${toVisibleText(item.name, 100)} cannot be read`);
    return false;
  }
}

/** Drops a tool whose arguments cannot be repeated in headers: the server would refuse the call. */
function isCallable({ name, inputSchema }: Tool, warnings: string[]): boolean {
  const read = readArgumentHeaders(inputSchema);
  if (!read.ok) warnings.push(toVisibleText(`the tool ${name} is left out: ${read.reason}`, 300));
  return read.ok;
}

function at(cursor: string | undefined): Record<string, unknown> {
  return cursor === undefined ? {} : { cursor };
}
