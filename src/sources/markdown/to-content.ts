import { basename, dirname, join, normalize } from "node:path/posix";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import type { Domain, EntryDraft, Rule } from "../../core/nouns/entry.ts";
import {
  type FragmentFile,
  type LibraryFile,
  type LibraryPrompt,
  type RuleFile,
  substitute,
} from "./files/parse-file.ts";
import {
  folderOf,
  type LibraryName,
  MATCH,
  ownAddress,
  routePath,
  uniqueRoutes,
} from "./files/route-path.ts";

const MIME_TYPE = "text/markdown";

/** Turns a library into a domain and drafts. An unchanged file keeps its draft, which spares the catalog work. */
export function createToContent(options: Pick<Domain, "name" | "description" | "scopes">, scheme?: string) {
  const { name: domain } = options;
  let drafted = new Map<string, { readonly key: string; readonly draft: EntryDraft }>();
  let lastDomain: Domain | undefined;

  return (files: Iterable<LibraryFile>) => {
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
      const before = drafted.get(file.path);
      const current = before?.key === key ? before : { key, draft: make() };
      next.set(file.path, current);
      return current.draft;
    }

    const promptDrafts = prompts
      .filter(({ path }) => promptRoutes.byPath.has(path))
      .map((file) => once(file, [], () => promptDraft(file, domain, promptRoutes.byPath.get(file.path)!)));
    const fragmentDrafts = shown.map((file) => {
      const related = referencesOf(file).map(routeOf);
      const library = { domain, scheme };
      return once(file, related, () => fragmentDraft(file, library, routeOf(file.path), related));
    });
    drafted = next;
    const drafts = [...promptDrafts, ...fragmentDrafts];
    const ruleFiles = all.filter((file) => file.kind === "rule");
    const { rules, orphans } = toRules(ruleFiles, domain, new Set(drafts.map(({ category }) => category)));
    const nextDomain = { ...options, rules };
    if (JSON.stringify(nextDomain) !== JSON.stringify(lastDomain)) lastDomain = nextDomain;
    return {
      domain: lastDomain!,
      drafts,
      /** Fragments by route. */
      fragments: new Map(shown.map((file) => [routeOf(file.path), file])),
      warnings: [
        ...all.flatMap(({ path, joined = [] }) =>
          joined.map(
            (field) => `${path}: ${field} has an item with a colon, which was read as text; quote it`,
          ),
        ),
        ...[...promptRoutes.doubled, ...fragmentRoutes.doubled].map(
          (path) => `${path}: another entry has its route; rename the file`,
        ),
        ...orphans.map((path) => `${path}: no entry has its category, so these rules are not used`),
      ],
    };
  };
}

function promptDraft({ facts, body }: LibraryPrompt, domain: string, route: string): EntryDraft {
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
    load: async (params) => substitute(body, facts.arguments, params),
  };
}

function fragmentDraft(
  { path, facts, body }: FragmentFile,
  library: LibraryName,
  route: string,
  related: readonly string[],
): EntryDraft {
  const { addresses, uri } = ownAddress(library, routePath(path));
  const { id, title, description, category, tags, capabilities, useWhen, estimatedTokens, scopes } = facts;
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route,
    addresses,
    domain: library.domain,
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

/** Joins the files of a category into one rule, and lists files whose category has no entry. */
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

const URI = /^([a-z][a-z0-9+.-]*):\/\/(?:resources\/)?(.+)$/i;

/** Resolves names of other fragments in a text: relative path, path, id, file name, or URI of one of the schemes. */
function createReferences(
  fragments: readonly FragmentFile[],
  schemes: readonly string[],
): (from: FragmentFile) => readonly string[] {
  const spellings = new Map(
    fragments
      .filter(({ facts }) => facts.references.length > 0)
      .map(({ path, facts }) => [path, facts.references.map((name) => spellingsOf(name, path, schemes))]),
  );
  const paths = indexNames(fragments, new Set([...spellings.values()].flat(2)));
  return ({ path: from }) => {
    const targets = new Set<string>();
    for (const names of spellings.get(from) ?? []) {
      const path = names.map((name) => paths.get(name)).find((one) => one !== undefined);
      if (path !== undefined && path !== from) targets.add(path);
    }
    return [...targets];
  };
}

function spellingsOf(name: string, from: string, schemes: readonly string[]): string[] {
  const [, scheme, path] = URI.exec(name) ?? [];
  if (scheme === undefined) return [join(dirname(from), name), normalize(name), basename(name)];
  return schemes.includes(scheme) ? [`${path}.md`] : [];
}

/** Indexes paths by the names in use. Paths come first, so that no id hides a path. */
function indexNames(
  fragments: readonly FragmentFile[],
  used: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  if (used.size === 0) return names;
  for (const { path } of fragments) if (used.has(path)) names.set(path, path);
  for (const { path, facts } of fragments) {
    for (const name of [path.slice(path.indexOf("/") + 1), facts.id, path.slice(path.lastIndexOf("/") + 1)]) {
      if (used.has(name) && !names.has(name)) names.set(name, path);
    }
  }
  return names;
}
