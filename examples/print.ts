// How the examples write to the terminal: bold headings where there is one, plain text elsewhere.
import { styleText } from "node:util";

/** Leaves colour out by itself when stdout is not a terminal or NO_COLOR is set. */
export function heading(text: string): void {
  console.log(`\n${styleText(["bold", "cyan"], text)}`);
}

/** An answer as a model sees it, set off from the text around it. */
export function quote(answer: string): void {
  console.log(answer.replaceAll(/^/gm, "  | "));
}
