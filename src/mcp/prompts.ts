import type { GetPromptResult, Prompt } from "@modelcontextprotocol/server";
import type { View } from "../access/view.ts";
import { toArgs } from "../render/args.ts";
import type { ReadableEntry } from "../schema/entry.ts";
import type { Json } from "../util/json.ts";
import { toPlainText } from "../util/plain-text.ts";
import { toSummary } from "../util/to-summary.ts";
import { toVisibleText } from "../util/visible-text.ts";
import { visiblePrompt } from "./visible-content.ts";

const SUMMARY_CHARS = 300;

interface PromptLists {
  readonly prompts: readonly Prompt[];
  readonly promptEntries: ReadonlyMap<string, ReadableEntry>;
}

/** Lists prompts by their name. Prompts that share a name are listed by their op. */
export function listPrompts(view: View): PromptLists {
  const entries = view.shown.filter((entry): entry is ReadableEntry => entry.kind === "prompt");
  const sharing = Map.groupBy(entries, (entry) => entry.name);
  const promptEntries = new Map<string, ReadableEntry>();
  for (const entry of entries) {
    promptEntries.set(sharing.get(entry.name)!.length === 1 ? entry.name : entry.op, entry);
  }
  return { promptEntries, prompts: [...promptEntries].map(([name, entry]) => toPrompt(name, entry)) };
}

function toPrompt(name: string, entry: ReadableEntry): Prompt {
  const { title, icons, _meta } = entry.presentation ?? {};
  const args = toArgs(entry.inputSchema).map((arg) => ({
    name: arg.name,
    ...(arg.description && { description: arg.description }),
    required: arg.required,
  }));
  return {
    name,
    ...(title !== undefined && { title }),
    description: toSummary(entry.description, SUMMARY_CHARS),
    ...(icons && { icons: icons as Prompt["icons"] }),
    ...(_meta && { _meta }),
    ...(args.length > 0 && { arguments: args }),
  };
}

/** Turns a loaded prompt into messages. A list of messages keeps its shape. */
export function toMessages(entry: ReadableEntry, value: Json): GetPromptResult {
  if (value !== null && typeof value === "object" && !Array.isArray(value) && Array.isArray(value.messages)) {
    return visiblePrompt(value as unknown as GetPromptResult);
  }
  return {
    description: toSummary(entry.description, SUMMARY_CHARS),
    messages: [{ role: "user", content: { type: "text", text: toVisibleText(toPlainText(value)) } }],
  };
}
