import type { OperationName } from "../operations/operations.ts";
import { type SurfaceOptions, surfaceTools } from "../operations/surfaces.ts";
import { PROBLEMS } from "../schema/problems.ts";

/** What an answer says to do next, beside the problems. */
const OWN_SENTENCES = [
  "or call help for the whole map.",
  "To apply it, call exec again with dry_run: false.",
];
const NAMED = /\b([Cc]all) (ask|help|get|exec)\b/g;
/** What does it where a surface has no tool of the operation's own. */
const INSTEAD: Readonly<Record<string, OperationName>> = {
  ask: "help",
  help: "ask",
  get: "exec",
  exec: "get",
};

/** The text and data of an answer, in the words of a surface. */
export type SurfaceWords = <T>(text: string, output: T) => [string, T];

/**
 * Puts the names of a surface's tools into what Keyhole itself says to call next. Only its own sentences are
 * touched: what tools and documents say stays as it is.
 */
export function createSurfaceWords(options: SurfaceOptions): SurfaceWords {
  const names = new Map(surfaceTools(options).map(({ name, operation }) => [operation, name]));
  const nameOf = (operation: string): string =>
    names.get(operation as OperationName) ?? names.get(INSTEAD[operation]!) ?? operation;
  const sentences = [...Object.values(PROBLEMS).map(({ next }) => next), ...OWN_SENTENCES]
    .map((sentence) => [
      sentence,
      sentence.replace(NAMED, (_, call, operation) => `${call} ${nameOf(operation)}`),
    ])
    .filter(([own, worded]) => own !== worded) as [string, string][];
  return (text, output) => {
    const said = sentences.filter(([own]) => text.includes(own));
    if (said.length === 0) return [text, output];
    const put = (whole: string) => said.reduce((kept, [own, worded]) => kept.replaceAll(own, worded), whole);
    return [put(text), JSON.parse(put(JSON.stringify(output)))];
  };
}
