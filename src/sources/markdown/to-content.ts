import { LRUCache } from "lru-cache";
import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { Domain, EntryDraft, Rule } from "../../schema/entry.ts";
import type { FragmentFile, LibraryFile, PromptFile, RuleFile } from "./files/library-file.ts";
import { createOwnAddresses, type OwnAddress } from "./files/own-addresses.ts";
import { folderOf, MATCH, routePath, uniqueRoutes } from "./files/route-path.ts";
import { createReferences } from "./references.ts";
import { substitute } from "./substitute.ts";

export interface LibraryContent {
  readonly domain: Domain;
  readonly drafts: readonly EntryDraft[];
  /** Fragments by route. */
  readonly fragments: ReadonlyMap<string, FragmentFile>;
  readonly warnings: readonly string[];
}

export interface DomainOptions {
  readonly name: string;
  readonly description: string;
  readonly scopes: readonly string[];
}

const PROMPTS_KEPT = 100;
const PROMPT_MS = 60 * 60 * 1_000;
const MIME_TYPE = "text/markdown";

/**
 * Turns the files of a library into a domain and drafts. An unchanged file keeps its draft object, so that the
 * catalog need not complete it again.
 */
export function createToContent(
  options: DomainOptions,
  scheme?: string,
): (files: Iterable<LibraryFile>) => LibraryContent {
  const { name: domain } = options;
  const own = createOwnAddresses(domain, scheme);
  const rendered = new LRUCache<string, string>({ max: PROMPTS_KEPT, ttl: PROMPT_MS, updateAgeOnGet: true });
  let drafted = new Map<string, { readonly key: string; readonly draft: EntryDraft }>();
  let lastDomain: Domain | undefined;

  return (files) => {
    const all = [...files];
    const prompts = all.filter((file) => file.kind === "prompt");
    const fragments = all.filter((file) => file.kind === "fragment");
    const promptRoutes = uniqueRoutes(pathsOf(prompts), `${domain}://prompts/`, []);
    const fragmentRoutes = uniqueRoutes(pathsOf(fragments), `${domain}://resources/`, [
      MATCH,
      ...new Set(pathsOf(fragments).map((path) => `${folderOf(path)}/${MATCH}`)),
    ]);
    const routeOf = (path: string) => fragmentRoutes.byPath.get(path)!;
    const shown = fragments.filter(({ path }) => fragmentRoutes.byPath.has(path));
    const referencesOf = createReferences(shown, [scheme ?? domain, domain]);
    const next: typeof drafted = new Map();

    function once(file: LibraryFile, related: readonly string[], make: () => EntryDraft): EntryDraft {
      const key = related.length === 0 ? file.hash : `${file.hash} ${related.join(" ")}`;
      const known = drafted.get(file.path);
      const made = known?.key === key ? known : { key, draft: make() };
      next.set(file.path, made);
      return made.draft;
    }

    const promptDrafts = prompts
      .filter(({ path }) => promptRoutes.byPath.has(path))
      .map((file) =>
        once(file, [], () => promptDraft(file, domain, promptRoutes.byPath.get(file.path)!, rendered)),
      );
    const fragmentDrafts = shown.map((file) => {
      const related = referencesOf(file).map(routeOf);
      return once(file, related, () =>
        fragmentDraft(file, domain, routeOf(file.path), own(routePath(file.path)), related),
      );
    });
    drafted = next;
    const drafts = [...promptDrafts, ...fragmentDrafts];
    const { rules, orphans } = toRules(
      all.filter((file) => file.kind === "rule"),
      domain,
      new Set(drafts.map(({ category }) => category)),
    );
    const nextDomain = { ...options, rules };
    if (JSON.stringify(nextDomain) !== JSON.stringify(lastDomain)) lastDomain = nextDomain;
    return {
      domain: lastDomain!,
      drafts,
      fragments: new Map(shown.map((file) => [routeOf(file.path), file])),
      warnings: [
        ...[...promptRoutes.doubled, ...fragmentRoutes.doubled].map(
          (path) => `${path}: another entry has its route; rename the file`,
        ),
        ...orphans.map((path) => `${path}: no entry has its category, so these rules are not used`),
      ],
    };
  };
}

function promptDraft(
  { facts, body, hash }: PromptFile,
  domain: string,
  route: string,
  rendered: LRUCache<string, string>,
): EntryDraft {
  const { name, title, description, version, category, tags, estimatedTokens, scopes } = facts;
  const properties = facts.arguments.map(
    ({ name: argument, description: about }) =>
      [argument, { type: "string", ...(about && { description: about }) }] as const,
  );
  const required = facts.arguments.filter((argument) => argument.required).map((argument) => argument.name);
  return {
    ...BARE_ENTRY,
    kind: "prompt",
    route,
    domain,
    name,
    description,
    scopes,
    tags,
    ...(category && { category }),
    ...(title && { presentation: { title } }),
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
    metadata: { resource_type: "prompt", estimatedTokens, mimeType: MIME_TYPE, ...(version && { version }) },
    content: body,
    load: async (params) => {
      const key = `${route}:${hash}:${JSON.stringify(params)}`;
      const known = rendered.get(key) ?? substitute(body, facts.arguments, params);
      rendered.set(key, known);
      return known;
    },
  };
}

function fragmentDraft(
  { facts, body }: FragmentFile,
  domain: string,
  route: string,
  { addresses, uri }: OwnAddress,
  related: readonly string[],
): EntryDraft {
  const { id, title, description, category, tags, capabilities, useWhen, estimatedTokens, scopes } = facts;
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route,
    addresses,
    domain,
    name: title,
    description,
    scopes,
    category,
    tags,
    aliases: id === title ? [] : [id],
    phrases: [...useWhen, ...capabilities],
    related,
    metadata: { resource_type: "fragment", estimatedTokens, mimeType: MIME_TYPE, ...(uri && { uri }) },
    content: body,
    load: async () => body,
  };
}

/** Joins the files of a category into one rule. The catalog would refuse rules that concern no entry. */
function toRules(files: readonly RuleFile[], domain: string, categories: ReadonlySet<string | undefined>) {
  const concerns = ({ facts }: RuleFile) => facts.category === undefined || categories.has(facts.category);
  const groups = Map.groupBy(files.filter(concerns), ({ facts }) => facts.category);
  const rules = [...groups].map(([category, sharing]): Rule => {
    const text = sharing.map(({ body }) => body).join("\n\n");
    return { domain, ...(category !== undefined && { category }), text };
  });
  return { rules, orphans: pathsOf(files.filter((file) => !concerns(file))) };
}

function pathsOf(files: readonly LibraryFile[]): string[] {
  return files.map(({ path }) => path);
}
