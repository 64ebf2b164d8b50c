import { join } from "node:path";
import { toArgs } from "../../base/json-schema/args.ts";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import type { Entry, ReadableEntry } from "../../core/nouns/entry.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { AskText, ChatAgent, CustomCommand } from "../tui/chat-agent.ts";
import { readMarkdownFiles } from "./markdown-files.ts";
import { toPromptMessages } from "./prompt-messages.ts";

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
