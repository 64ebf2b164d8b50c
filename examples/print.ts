// Output of the examples: bold headings on a terminal, plain text elsewhere.
import { styleText } from "node:util";

/** Omits colour if stdout is not a terminal or NO_COLOR is set. */
export function heading(text: string): void {
  console.log(`\n${styleText(["bold", "cyan"], text)}`);
}

/** Prints an answer as a model sees it, indented. */
export function quote(answer: string): void {
  console.log(answer.replaceAll(/^/gm, "  | "));
}
