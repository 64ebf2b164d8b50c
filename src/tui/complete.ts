import type { OwnCommand } from "./chat-agent.ts";
import { COMMANDS } from "./commands.ts";
import type { Edit } from "./line-editor.ts";
import { matchFiles, mentionAt, toMention } from "./mentions.ts";

/** One completion. */
export interface Completion {
  readonly label: string;
  readonly edit: Edit;
}

const MOST = 5;

/** Completions of the command or mentioned file at the cursor. */
export function complete(
  text: string,
  cursor: number,
  files: readonly string[],
  own: readonly OwnCommand[] = [],
): Completion[] {
  const typed = text.slice(0, cursor);
  if (/^\/[\w:.-]*$/.test(typed)) {
    const wanted = typed.slice(1).toLowerCase();
    return [...COMMANDS, ...own]
      .filter(({ name }) => name.toLowerCase().startsWith(wanted) && name !== wanted)
      .slice(0, MOST)
      .map(({ name, summary }) => ({
        label: `/${name}  ${summary}`,
        edit: { type: "replace", from: 0, text: `/${name}` },
      }));
  }
  const mention = mentionAt(text, cursor);
  if (!mention) return [];
  return matchFiles(files, mention.typed, MOST)
    .filter((file) => file !== mention.typed)
    .map((file) => ({
      label: file,
      edit: { type: "replace", from: mention.from, text: `${toMention(file)} ` },
    }));
}
