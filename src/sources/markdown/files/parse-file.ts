import { basename, dirname } from "node:path/posix";
import { z } from "zod";
import { toVisibleText } from "../../../base/safety/visible-text.ts";
import type { TokenCounter } from "../../../base/tokens/tokens.ts";
import { splitWords } from "../../../base/util/split-words.ts";
import { toSummary } from "../../../base/util/to-summary.ts";
import {
  type FrontMatter,
  fieldsWithColons,
  fileProblem,
  parseFrontMatter,
  readFields,
  scopes,
  sentences,
  text,
  tokens,
  words,
} from "./front-matter.ts";
import { toKeywords } from "./keywords.ts";

interface FileBase {
  /** Path from the library's directory, with slashes. */
  readonly path: string;
  /** Size and time. While it is the same, the file is not read again. */
  readonly stamp: string;
  /** SHA-256 of the bytes. */
  readonly hash: string;
  readonly body: string;
  /** Front matter fields in which YAML read text as a field with a value. */
  readonly joined?: readonly string[];
}

/** The front matter of a file, completed from its text. */
export interface LibraryPrompt extends FileBase {
  readonly kind: "prompt";
  readonly facts: ReturnType<typeof parsePrompt>;
}

export interface FragmentFile extends FileBase {
  readonly kind: "fragment";
  readonly facts: ReturnType<typeof parseFragment>;
}

export interface RuleFile extends FileBase {
  readonly kind: "rule";
  readonly facts: ReturnType<typeof parseRule>;
}

/** The last good content of a Markdown file: plain data that an index can store. */
export type LibraryFile = LibraryPrompt | FragmentFile | RuleFile;

/** File name of rules for the whole domain. */
const ALL = "_all";
const ruleMatter = z.object({ category: text });

/**
 * Parses a file of a library.
 *
 * @throws FILE_INVALID with the location of the mistake.
 */
export function parseFile(
  { path, kind, stamp, hash }: Pick<LibraryFile, "path" | "kind" | "stamp" | "hash">,
  content: string,
  countTokens: TokenCounter,
): LibraryFile {
  const matter = parseFrontMatter(content, path);
  const body = toVisibleText(matter.body).trim();
  if (body === "") throw fileProblem(path, matter.bodyLine, 1, "it has no text");
  const joined = fieldsWithColons(matter);
  const base = { path, stamp, hash, body, ...(joined.length > 0 && { joined }) };
  if (kind === "prompt") return { ...base, kind, facts: parsePrompt(path, matter, body, countTokens) };
  if (kind === "fragment") return { ...base, kind, facts: parseFragment(path, matter, body, countTokens) };
  return { ...base, kind, facts: parseRule(path, matter) };
}

/** Rules without a category are for the whole domain. */
function parseRule(path: string, matter: FrontMatter): { readonly category?: string } {
  const category = readFields(ruleMatter, matter, path).category ?? basename(path, ".md");
  return category === ALL ? {} : { category };
}

const fragmentMatter = z.object({
  id: text,
  title: text,
  description: text,
  category: text,
  tags: words,
  capabilities: sentences,
  useWhen: sentences,
  estimatedTokens: tokens,
  scopes,
  related: words,
});

const SUMMARY_CHARS = 400;
const MAX_TAGS = 12;
const MAX_REFERENCES = 64;
const READ_CHARS = 20_000;
/** Matches `path.md` and URIs of libraries, but no web addresses. */
const REFERENCES = /\b(?!https?:)[a-z][a-z0-9+.-]{0,63}:\/\/[\w/-]{1,200}|[\w./-]{1,200}\.md\b/gi;
const CAPABILITY_HEADINGS = ["capabilities", "core capabilities", "what it provides"];
const USE_HEADINGS = ["when to use", "use when", "when to use this"];

/** Technical terms that become tags if a text contains them. */
const TRADE_WORDS: ReadonlySet<string> = new Set(
  [
    "typescript javascript python rust golang java kotlin swift ruby php csharp sql graphql grpc rest api http",
    "react vue angular svelte nodejs express fastapi django flask spring docker kubernetes terraform pulumi aws",
    "azure gcp linux postgres postgresql mysql redis mongodb kafka rabbitmq oauth jwt testing security",
    "performance async authentication authorization caching logging metrics tracing monitoring database",
    "deployment microservices websocket webhook validation migration accessibility concurrency",
  ]
    .join(" ")
    .split(" "),
);

/** Parses a fragment. Missing facts in the front matter come from headings, sections and text. */
function parseFragment(path: string, matter: FrontMatter, body: string, countTokens: TokenCounter) {
  const fields = readFields(fragmentMatter, matter, path);
  const outline = readOutline(body);
  const id = fields.id ?? basename(path, ".md");
  const title = fields.title ?? outline.title ?? id;
  const capabilities = fields.capabilities ?? itemsUnder(outline, CAPABILITY_HEADINGS);
  const description = fields.description ?? toSummary(outline.lead || capabilities.join("; "), SUMMARY_CHARS);
  return {
    id,
    title,
    description: description || title,
    category: fields.category ?? folderOf(path),
    tags: (fields.tags ?? extractTags(outline.title ?? id, body)).map((tag) => tag.toLowerCase()),
    capabilities,
    useWhen: fields.useWhen ?? itemsUnder(outline, USE_HEADINGS),
    estimatedTokens: fields.estimatedTokens ?? countTokens(body),
    scopes: fields.scopes,
    /** Names of other fragments in its text: ids, file names, paths and URIs. */
    references: [...new Set([...(fields.related ?? []), ...findReferences(body)])].slice(0, MAX_REFERENCES),
  };
}

/** The category of `fragments/agents/deep/x.md` is `agents`. */
function folderOf(path: string): string {
  return dirname(path).split("/")[1] ?? "general";
}

function itemsUnder({ items }: Headings, headings: readonly string[]): readonly string[] {
  return headings.map((heading) => items.get(heading)).find((found) => found !== undefined) ?? [];
}

function extractTags(title: string, body: string): string[] {
  const named = toKeywords(splitWords(title).join(" "));
  const present = new Set(
    body
      .slice(0, READ_CHARS)
      .toLowerCase()
      .split(/[^a-z0-9]+/),
  );
  const ofTrade = [...TRADE_WORDS].filter((word) => present.has(word));
  return [...new Set([...named, ...ofTrade])].slice(0, MAX_TAGS);
}

/** Finds names of other files: `path.md`, in links or alone, and URIs such as `@notes://agents/types`. */
function findReferences(body: string): string[] {
  return [...body.slice(0, READ_CHARS * 10).matchAll(REFERENCES)].map(([name]) => name);
}

/** The headings and lists of a Markdown text. */
interface Headings {
  /** The first heading. */
  readonly title: string | undefined;
  /** The first paragraph that is not a heading, list or code. */
  readonly lead: string;
  /** List items by the heading above them, in lower case. */
  readonly items: ReadonlyMap<string, readonly string[]>;
}

const MAX_LINES = 20_000;

function readOutline(body: string): Headings {
  const items = new Map<string, string[]>();
  const lead: string[] = [];
  let title: string | undefined;
  let heading = "";
  let fence = "";
  let leadEnded = false;
  let inItem = false;
  for (const whole of body.split("\n", MAX_LINES)) {
    const line = whole.trim();
    const mark = line.slice(0, 3);
    if (mark === "```" || mark === "~~~") {
      if (fence === "") fence = mark;
      else if (fence === mark) fence = "";
      leadEnded ||= lead.length > 0;
      continue;
    }
    if (fence !== "") continue;
    const named = toHeading(line);
    const item = toItem(line);
    inItem = item !== undefined || (inItem && line !== "" && named === undefined);
    if (named !== undefined) {
      title ??= named;
      heading = named.toLowerCase();
    } else if (item !== undefined) {
      const listed = items.get(heading) ?? [];
      items.set(heading, [...listed.slice(0, 63), item]);
    } else if (line !== "" && !leadEnded && !inItem) {
      lead.push(line);
      continue;
    }
    leadEnded ||= lead.length > 0;
  }
  return { title, lead: lead.join(" "), items };
}

function toHeading(line: string): string | undefined {
  let level = 0;
  while (line[level] === "#") level += 1;
  if (level === 0 || level > 6 || line[level] !== " ") return undefined;
  let end = line.length;
  while (line[end - 1] === "#") end -= 1;
  return line.slice(level, end).trim() || undefined;
}

function toItem(line: string): string | undefined {
  const marker = /^(?:[-*+]|\d{1,3}[.)]) /.exec(line)?.[0];
  return marker === undefined ? undefined : line.slice(marker.length).trim() || undefined;
}

const argumentName = z
  .string()
  .trim()
  .regex(/^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u, "must be letters, digits, dots, hyphens and underscores");

const argument = z.preprocess(
  (value) => (typeof value === "string" ? { name: value } : value),
  z
    .object({ name: argumentName, description: text, required: z.boolean().nullish() })
    .transform(({ description, required, ...named }) => ({
      ...named,
      ...(description && { description }),
      required: required ?? false,
    })),
);

const promptMatter = z.object({
  name: text,
  title: text,
  description: text,
  version: text,
  arguments: z.array(argument).max(64).nullish(),
  category: text,
  tags: words,
  estimatedTokens: tokens,
  scopes,
});

/** Parses a prompt. If it uses `$ARGUMENTS` and declares no argument, it takes one optional argument. */
function parsePrompt(path: string, matter: FrontMatter, body: string, countTokens: TokenCounter) {
  const fields = readFields(promptMatter, matter, path);
  const declared: readonly z.infer<typeof argument>[] = fields.arguments ?? [];
  if (new Set(declared.map(({ name }) => name)).size < declared.length)
    throw fileProblem(path, matter.lines.arguments ?? 1, 1, "arguments: a name occurs twice");
  const { title, lead } = readOutline(body);
  const name = fields.name ?? basename(path, ".md");
  const category = fields.category ?? dirname(path).split("/")[1];
  const shown = fields.title ?? title;
  return {
    name,
    ...(shown && { title: shown }),
    description: fields.description ?? (toSummary(lead) || shown || name),
    ...(fields.version && { version: fields.version }),
    arguments:
      declared.length === 0 && namesAllArguments(body)
        ? [{ name: ALL_ARGUMENTS, required: false }]
        : declared,
    ...(category && { category }),
    tags: fields.tags ?? [],
    estimatedTokens: fields.estimatedTokens ?? countTokens(body),
    scopes: fields.scopes,
  };
}

/** Argument of prompts that use `$ARGUMENTS` and declare none. */
const ALL_ARGUMENTS = "arguments";

const PLACEHOLDERS = /\$\{([^${}\s]{1,64})\}|\$ARGUMENTS\b/g;

/**
 * Replaces `${name}` by that argument and `$ARGUMENTS` by the first argument with a value. One pass: values are never
 * substituted again. Placeholders without a value stay.
 */
export function substitute(
  template: string,
  declared: readonly { readonly name: string }[],
  given: Readonly<Record<string, unknown>>,
): string {
  const values = new Map(
    declared
      .filter(({ name }) => Object.hasOwn(given, name) && given[name] !== undefined && given[name] !== null)
      .map(({ name }) => [name, String(given[name])]),
  );
  const [first] = values.values();
  return template.replace(PLACEHOLDERS, (whole, name: string | undefined) =>
    name === undefined ? (first ?? whole) : (values.get(name) ?? whole),
  );
}

export function namesAllArguments(template: string): boolean {
  return /\$ARGUMENTS\b/.test(template);
}
