import type {
  Client,
  Prompt,
  RequestOptions,
  Resource,
  ResourceTemplateType,
  Tool,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { findInjection, injectionRules } from "../../base/safety/detect-injection.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { fieldsOf, isPlainObject } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { readArgumentHeaders } from "../../core/nouns/argument-headers.ts";
import { type Listed, type ListedSkill, toDefinition } from "./definition.ts";
import { type PackedTools, packTools } from "./packed-tools.ts";
import type { UpstreamLimits } from "./upstream-target.ts";

const MAX_PAGES = 1_024;

/** Everything that a server offers. */
export interface Listing {
  readonly instructions?: string;
  /** The ways in which the instructions try to steer a model, by these rules. */
  readonly judged?: { readonly rules: string; readonly injection: readonly string[] };
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

/** State of a listing in progress. */
interface ListingProgress {
  readonly client: Client;
  readonly timeout: number;
  /** Limit of entries of a kind. */
  readonly maxEntries: number;
  readonly warnings: string[];
  readonly leftOut: string[];
}

type FetchPage<T extends Listed> = (
  params: { cursor?: string },
  options: RequestOptions,
) => Promise<{ readonly items: readonly T[]; readonly nextCursor?: string | undefined }>;

/**
 * Lists everything that a connected server offers. Throws only if the tools cannot be listed. Over HTTP (`inHeaders`)
 * the newer protocol repeats some arguments in headers.
 */
export async function fetchListing(
  client: Client,
  { connectMs: timeout, maxEntries }: Pick<UpstreamLimits, "connectMs" | "maxEntries">,
  inHeaders: boolean,
  before?: Listing,
): Promise<Listing> {
  const lister: ListingProgress = { client, timeout, maxEntries, warnings: [], leftOut: [] };
  const { warnings, leftOut } = lister;
  const offered = client.getServerCapabilities() ?? {};
  const tolerate = async <T>(what: string, listed: Promise<T[]>): Promise<T[]> =>
    listed.catch((error: unknown) => {
      warnings.push(`its ${what} cannot be listed: ${reasonOf(error)}`);
      return [];
    });
  const list = <T extends Listed>(what: string, isOffered: unknown, fetchPage: FetchPage<T>) =>
    isOffered ? tolerate(what, walk(what, lister, fetchPage)) : [];

  const repeats = inHeaders && client.getProtocolEra() === "modern";
  const tools = !offered.tools
    ? []
    : await walk("tools", lister, async (params, options) => {
        const page = await client.request({ method: "tools/list", params }, toolPageSchema, options);
        const listed = await readTools(page.tools, warnings);
        const items = repeats ? listed.filter((tool) => isCallable(tool, warnings)) : listed;
        return { ...page, items };
      });
  // Awaited together, so that an early failure is never an unhandled rejection.
  const [prompts, resources, templates, skills] = await Promise.all([
    list("prompts", offered.prompts, async (params, options) => {
      const page = await client.request({ method: "prompts/list", params }, options);
      return { ...page, items: page.prompts };
    }),
    list("resources", offered.resources, async (params, options) => {
      const page = await client.request({ method: "resources/list", params }, options);
      return { ...page, items: page.resources };
    }),
    list("resource templates", offered.resources, async (params, options) => {
      const page = await client.request({ method: "resources/templates/list", params }, options);
      return { ...page, items: page.resourceTemplates };
    }),
    tolerate("skills", fetchSkills(lister)),
  ]);
  const instructions = client.getInstructions();
  return {
    ...(instructions !== undefined && { instructions, judged: judge(instructions, before) }),
    ...{ tools: packTools(tools, before?.tools), prompts, resources, templates, skills, warnings, leftOut },
  };
}

/** Text that was judged before by the same rules is not judged again. */
function judge(instructions: string, before: Listing | undefined): NonNullable<Listing["judged"]> {
  const rules = injectionRules();
  if (before?.judged?.rules === rules && before.instructions === instructions) return before.judged;
  return { rules, injection: findInjection(instructions) };
}

/** Follows cursors to the end, a repeated cursor, or a limit. Counts the entries over the limit. */
async function walk<T extends Listed>(
  what: string,
  { warnings, leftOut, maxEntries, timeout }: ListingProgress,
  fetchPage: FetchPage<T>,
): Promise<T[]> {
  const items: T[] = [];
  const seen = new Set<string>();
  let over = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items: more, nextCursor } = await fetchPage(cursor === undefined ? {} : { cursor }, { timeout });
    for (const item of more) {
      if (!isSound(item, warnings)) continue;
      if (items.length < maxEntries) items.push(item);
      else over += 1;
    }
    if (!nextCursor) return cut(over);
    if (seen.has(nextCursor)) {
      warnings.push(`it has a list of ${what} that begins again; the first ${items.length} are listed`);
      return cut(over);
    }
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return cut("an unknown number");

  function cut(count: number | string): T[] {
    if (count !== 0) leftOut.push(`${count} of its ${what} after the first ${items.length}`);
    return items;
  }
}

/** Drops definitions that are nested too deeply. */
function isSound(item: Listed, warnings: string[]): boolean {
  try {
    toDefinition(item);
    return true;
  } catch {
    warnings.push(`the definition of ${toVisibleText(item.name, 100)} cannot be read`);
    return false;
  }
}

/** Drops a tool whose arguments do not fit in headers: the server would refuse the call. */
function isCallable({ name, inputSchema }: Tool, warnings: string[]): boolean {
  const read = readArgumentHeaders(inputSchema);
  if (!read.ok) warnings.push(leftOut({ name }, read.reason));
  return read.ok;
}

const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";
const MAX_FILES = 512;
/** Limit for all skills together. */
const MAX_ALL_FILES = 20_000;
const MAX_BYTES = 16 * 2 ** 20;

/** Lists the skills of a server that declares the Skills extension, without reading their files. */
async function fetchSkills({
  client,
  timeout,
  maxEntries,
  warnings,
}: ListingProgress): Promise<ListedSkill[]> {
  if (!client.getServerCapabilities()?.extensions?.[SKILLS_EXTENSION]) return [];
  const { SkillsClient } = await import("@modelcontextprotocol/client/ext/skills");
  const { skills, invalid } = await new SkillsClient(client, { skipInvalid: true }).list({}, { timeout });
  const refuse = (skill: string, reason: string) =>
    warnings.push(toVisibleText(`its skill ${skill} is refused: ${reason}`, 500));
  for (const { uri, reason } of invalid) refuse(uri ?? "without an address", reason);
  let files = 0;
  const listed = skills.flatMap(({ uri, frontmatter, resources }) => {
    files += resources.length;
    const isOver = files > MAX_ALL_FILES;
    const refusal = isOver
      ? `it has more than ${MAX_ALL_FILES} files with the others`
      : refusalOf(uri, resources);
    if (refusal !== undefined) refuse(uri, refusal);
    const { name, description } = frontmatter;
    return refusal === undefined ? [{ name, description, uri, frontmatter, resources }] : [];
  });
  return listed.filter((skill) => isSound(skill, warnings)).slice(0, maxEntries);
}

function refusalOf(uri: string, resources: ListedSkill["resources"]): string | undefined {
  if (/^file:/i.test(uri)) return "it would be read from this machine";
  if (resources === "dynamic") return undefined;
  if (resources.length > MAX_FILES) return `it has more than ${MAX_FILES} files`;
  const bytes = resources.reduce((sum, { size }) => sum + size, 0);
  return bytes > MAX_BYTES ? `its files are larger than ${MAX_BYTES} bytes together` : undefined;
}

/** A page of tools with unparsed definitions. */
const toolPageSchema = z.object({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
});

/** Parses each definition separately: a malformed one does not affect others. Loads the SDK on first use. */
async function readTools(definitions: readonly unknown[], warnings: string[]): Promise<Tool[]> {
  const { specTypeSchemas } = await import("@modelcontextprotocol/client");
  const standard = specTypeSchemas.Tool["~standard"];
  const tools: Tool[] = [];
  for (const definition of definitions) {
    try {
      const read = await standard.validate(definition);
      if (read.issues) warnings.push(leftOut(definition, read.issues[0]?.message ?? "it is malformed"));
      else tools.push(read.value);
    } catch (error) {
      // The definition is nested too deeply. If that is its input, the catalog lists the tool with the reason.
      const bare = toBareTool(definition);
      if (bare) tools.push(bare);
      else warnings.push(leftOut(definition, reasonOf(error)));
    }
  }
  return tools;
}

function toBareTool(definition: unknown): Tool | undefined {
  const { name, inputSchema } = fieldsOf(definition);
  if (typeof name !== "string" || !isPlainObject(inputSchema)) return undefined;
  return { name, inputSchema: inputSchema as Tool["inputSchema"] };
}

function leftOut(definition: unknown, reason: string): string {
  const { name } = fieldsOf(definition);
  const called = typeof name === "string" ? name : "without a name";
  return toVisibleText(`the tool ${called} is left out: ${reason}`, 300);
}
