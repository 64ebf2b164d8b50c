import { basename, dirname } from "node:path/posix";
import { z } from "zod";
import { splitWords } from "../../util/split-words.ts";
import { toSummary } from "../../util/to-summary.ts";
import type { TokenCounter } from "../../util/tokens.ts";
import { readFields, scopes, sentences, text, tokens, words } from "./fields.ts";
import type { FrontMatter } from "./files/front-matter.ts";
import type { FragmentFacts } from "./files/library-file.ts";
import { toKeywords } from "./match/keywords.ts";
import { type Outline, readOutline } from "./outline.ts";

const frontMatter = z.object({
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

/** Reads a fragment. Facts that its front matter lacks come from headings, sections and text. */
export function parseFragment(
  path: string,
  matter: FrontMatter,
  body: string,
  countTokens: TokenCounter,
): FragmentFacts {
  const fields = readFields(frontMatter, matter, path);
  const outline = readOutline(body);
  const id = fields.id ?? basename(path, ".md");
  const title = fields.title ?? outline.title ?? id;
  const capabilities = fields.capabilities ?? itemsUnder(outline, CAPABILITY_HEADINGS);
  const told = fields.description ?? toSummary(outline.lead || capabilities.join("; "), SUMMARY_CHARS);
  return {
    id,
    title,
    description: told || title,
    category: fields.category ?? folderOf(path),
    tags: (fields.tags ?? extractTags(outline.title ?? id, body)).map((tag) => tag.toLowerCase()),
    capabilities,
    useWhen: fields.useWhen ?? itemsUnder(outline, USE_HEADINGS),
    estimatedTokens: fields.estimatedTokens ?? countTokens(body),
    scopes: fields.scopes,
    references: [...new Set([...(fields.related ?? []), ...findReferences(body)])].slice(0, MAX_REFERENCES),
  };
}

/** The category of `fragments/agents/deep/x.md` is `agents`. */
function folderOf(path: string): string {
  return dirname(path).split("/")[1] ?? "general";
}

function itemsUnder({ items }: Outline, headings: readonly string[]): readonly string[] {
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

/** Finds the names of other files: `path.md`, in links or alone, and URIs such as `@notes://agents/types`. */
function findReferences(body: string): string[] {
  return [...body.slice(0, READ_CHARS * 10).matchAll(REFERENCES)].map(([name]) => name);
}
