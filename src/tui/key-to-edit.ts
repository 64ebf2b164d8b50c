import type { Key } from "ink";
import type { Edit } from "./line-editor.ts";

type Pressed = Partial<Key>;

/** The edit that a key makes; undefined if the key does not edit the draft. */
export function keyToEdit(input: string, key: Pressed): Edit | undefined {
  if (key.leftArrow) return { type: "left" };
  if (key.rightArrow) return { type: "right" };
  if (key.upArrow) return { type: "up" };
  if (key.downArrow) return { type: "down" };
  if (key.home) return { type: "line-start" };
  if (key.end) return { type: "line-end" };
  if (key.backspace) return { type: key.meta ? "delete-word" : "backspace" };
  if (key.delete) return { type: "delete" };
  if (key.ctrl) return ctrlEdit(input);
  if (key.escape || key.tab || key.return || key.meta) return undefined;
  const text = typedText(input);
  return text === "" ? undefined : { type: "insert", text };
}

/** Removes characters that would move the cursor from typed or pasted text. */
export function typedText(input: string): string {
  return input.replace(/\r\n?/g, "\n").replace(/(?![\n\t])\p{Cc}/gu, "");
}

function ctrlEdit(input: string): Edit | undefined {
  switch (input) {
    case "a":
      return { type: "line-start" };
    case "e":
      return { type: "line-end" };
    case "u":
      return { type: "delete-before" };
    case "k":
      return { type: "delete-after" };
    case "w":
      return { type: "delete-word" };
    case "d":
      return { type: "delete" };
    case "j":
      return { type: "insert", text: "\n" };
    default:
      return undefined;
  }
}
