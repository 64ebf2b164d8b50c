import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { toArgs } from "../../base/json-schema/args.ts";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleLine, toVisibleText } from "../../base/safety/visible-text.ts";
import { fieldsOf, textOf } from "../../base/util/plain-object.ts";
import type { Entry, ReadableEntry } from "../../core/nouns/entry.ts";
import { checkOutside, markOutside } from "../../core/operations/answer-parts.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { parseFrontMatter } from "../../sources/markdown/files/front-matter.ts";
import type { PromptFile } from "../loop/agent-event.ts";
import { readStart } from "../loop/project-files.ts";
import type { AskText, ChatAgent, CustomCommand, PromptMessage } from "../tui/chat-agent.ts";

/** Commands beside the chat's own: Markdown files of the person and of a trusted project, and prompts of servers. */
export interface CustomCommands {
  list(): readonly CustomCommand[];
  expand: ChatAgent["expand"];
}

/** The folders of a folder that hold commands of the chat as Markdown files. */
export const COMMAND_FOLDERS = [join(".keyhole", "commands"), join(".claude", "commands")];
/** Reads the files of each folder; the first folder that has a name decides. Prompts are those of the gateway now. */
export async function openCustomCommands(
  places: readonly string[],
  gateway: Gateway,
): Promise<CustomCommands> {
  const files = (await readMarkdownFiles(places, COMMAND_FOLDERS)).map(({ name, data, text }) => ({
    name,
    summary: typeof data.description === "string" ? data.description : text.split("\n", 1)[0]!,
    text,
  }));
  let prompts: readonly Entry[] = [];
  const readPrompts = async () => {
    prompts = (await gateway.view()).shown.filter(({ kind }) => kind === "prompt");
  };
  await readPrompts();
  gateway.onChange(() => void readPrompts().catch(() => {}));

  return {
    list: () => [
      ...files,
      ...prompts.map((entry) => ({ name: promptName(entry), summary: entry.description })),
    ],
    expand: async (name, argument, ask) => {
      const file = files.find((each) => each.name === name);
      if (file) return withArguments(file.text, argument);
      const entry = prompts.find((each) => promptName(each) === name);
      if (!entry) throw problem("NOT_FOUND", { name: `/${name}` });
      const params = await fillParams(entry, toParams(entry, argument), ask);
      const routes = [{ route: entry.route, params }];
      // A prompt is whole, or it is another one.
      const answer = await gateway.get({ routes }, { limits: { resultTokens: Number.POSITIVE_INFINITY } });
      const [result] = answer.results ?? [];
      if (!result?.ok) throw problem("INVALID_INPUT", { operation: `/${name}`, reason: answer.text });
      return toPromptMessages(result.data?.content, entry.domain);
    },
  };
}

/** `$ARGUMENTS` stands for all words, `$1` for the first; without either, the words come last. */
function withArguments(text: string, argument: string): string {
  const words = argument.split(/\s+/).filter(Boolean);
  if (!/\$(?:ARGUMENTS|\d)/.test(text)) return argument === "" ? text : `${text}\n\n${argument}`;
  // In one pass, because the words themselves may have such signs.
  return text.replaceAll(/\$(?:ARGUMENTS|(\d))/g, (_, digit?: string) =>
    digit === undefined ? argument : (words[Number(digit) - 1] ?? ""),
  );
}

/** Asks for the required params that are missing. */
async function fillParams(
  entry: Entry,
  params: Record<string, string>,
  ask: AskText | undefined,
): Promise<Record<string, string>> {
  const filled = { ...params };
  for (const { name, required, description } of toArgs(entry.inputSchema)) {
    if (!required || filled[name] !== undefined) continue;
    const { complete } = entry as Partial<ReadableEntry>;
    const answer = await ask?.({
      title: `${promptName(entry)} needs ${name}:`,
      ...(description !== undefined && { about: description }),
      ...(complete && { complete: (value, signal) => complete({ name, value }, filled, signal) }),
    });
    if (answer === undefined) {
      const about = description === undefined ? "" : ` (${toVisibleLine(description)})`;
      const reason = `the argument ${name} is missing${about}: write ${name}=VALUE behind it`;
      throw problem("INVALID_INPUT", { operation: `/${promptName(entry)}`, reason });
    }
    filled[name] = answer;
  }
  return filled;
}

function promptName({ domain, name }: Entry): string {
  return `${domain}:${name}`;
}

/** `name=value` words by name; other words fill the first param. */
function toParams(entry: Entry, argument: string): Record<string, string> {
  const names = Object.keys((entry.inputSchema as { properties?: object } | undefined)?.properties ?? {});
  const named = [...argument.matchAll(/(\w+)=("[^"]*"|\S+)/g)].filter(([, name]) => names.includes(name!));
  const params = Object.fromEntries(named.map(([, name, value]) => [name, value!.replace(/^"|"$/g, "")]));
  const rest = named.reduce((text, [whole]) => text.replace(whole, ""), argument).trim();
  const [first] = names.filter((name) => !(name in params));
  return rest === "" || first === undefined ? params : { ...params, [first]: rest };
}

/**
 * The messages of a loaded prompt, with their roles. A server's own words have no mark, because the person chose them
 * as instructions; the documents that it encloses are text of others.
 */
function toPromptMessages(value: unknown, server: string): PromptMessage[] {
  const { messages } = fieldsOf(value);
  if (!Array.isArray(messages)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [{ role: "user", prompt: toVisibleText(text) }];
  }
  return messages.map((message): PromptMessage => {
    const { role, content } = fieldsOf(message);
    if (typeof content === "string") return { role: roleOf(role), prompt: toVisibleText(content) };
    const image = imageOf(content);
    const about = aboutBlock(content, server);
    // Providers take images of the person alone.
    return role === "assistant" || !image
      ? { role: roleOf(role), prompt: about }
      : { role: "user", prompt: about, files: [image] };
  });
}

function roleOf(role: unknown): PromptMessage["role"] {
  return role === "assistant" ? "assistant" : "user";
}

function imageOf(block: unknown): PromptFile | undefined {
  const { mimeType, data } = fieldsOf(block);
  if (typeof mimeType !== "string" || !mimeType.startsWith("image/") || typeof data !== "string")
    return undefined;
  return { mediaType: mimeType, data };
}

/** A text for a block that is none, as the gateway describes it. */
function aboutBlock(block: unknown, server: string): string {
  const { type, uri, name, mimeType, bytes, text } = fieldsOf(block);
  const what = [name, uri, mimeType, bytes === undefined ? undefined : `${bytes} bytes`]
    .filter((part) => part !== undefined)
    .join(", ");
  const line = toVisibleText(`[${textOf(type) ?? "content"}: ${what}]`);
  return typeof text === "string" ? `${line}\n${markOutside(text, checkOutside(text, server))}` : line;
}

const MAX_BYTES = 64 * 1024;

/** A Markdown file that defines a command or a sub-agent. */
interface MarkdownFile {
  /** The path in its folder: `git/commit.md` is `git:commit`. */
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The text below the front matter, which is not empty. */
  readonly text: string;
}

/** Reads the Markdown files in these folders of each place. The first file of a name counts. */
export async function readMarkdownFiles(
  places: readonly string[],
  folders: readonly string[],
): Promise<MarkdownFile[]> {
  const files = new Map<string, MarkdownFile>();
  for (const folder of places.flatMap((place) => folders.map((each) => join(place, each)))) {
    for (const path of await markdownIn(folder)) {
      const source = await readStart(join(folder, path), MAX_BYTES);
      const file = source && toFile(path, toVisibleText(source));
      if (file && !files.has(file.name)) files.set(file.name, file);
    }
  }
  return [...files.values()];
}

/** The paths of Markdown files below a folder. */
export async function markdownIn(folder: string): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  return paths.filter((path) => /^(?:[\w.-]+\/){0,3}[\w.-]+\.md$/.test(path)).sort();
}

/** Undefined for a file that cannot be read or is empty. */
function toFile(path: string, source: string): MarkdownFile | undefined {
  try {
    const { body, data } = parseFrontMatter(source, path);
    const text = body.trim();
    return text === "" ? undefined : { name: path.slice(0, -".md".length).replaceAll("/", ":"), data, text };
  } catch {
    return undefined;
  }
}
