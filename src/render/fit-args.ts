import { cutText } from "../util/cut-text.ts";
import type { Arg } from "./args.ts";
import { fitAssembled, type Piece, type TokenBudget } from "./fit-pieces.ts";

const TYPE_CHARS = 60;
const DEFAULT_CHARS = 24;

/** A list of arguments within a budget, and how many had to be left out. */
export interface FittedArgs {
  readonly args: readonly Arg[];
  readonly omitted: number;
}

/**
 * Shortens a list of arguments, required ones first, to a token budget. Optional arguments lose their descriptions
 * before any goes, the last ones first; required ones come after them. The JSON of the result stays within the
 * budget, or the list is empty. See {@link toArgs}.
 */
export function fitArgs(args: readonly Arg[], budget: TokenBudget): FittedArgs {
  const forms = args.map((arg): readonly Arg[] => [arg, toBrief(arg)]);
  const pieces = forms.map(([whole, brief], index): Piece => {
    const isRequired = args[index]!.required;
    return {
      forms: [JSON.stringify(whole), JSON.stringify(brief), ""],
      prices: isRequired ? [3, 4] : [1, 2],
    };
  });
  const fitted = fitAssembled(pieces, budget, (chosen) =>
    forms.flatMap((ofArg, index) => ofArg[chosen[index]!] ?? []),
  );
  return { args: fitted ?? [], omitted: args.length - (fitted?.length ?? 0) };
}

function toBrief({ name, type, required, ...rest }: Arg): Arg {
  const isShort = rest.default !== undefined && JSON.stringify(rest.default).length <= DEFAULT_CHARS;
  return { name, type: cutText(type, TYPE_CHARS), required, ...(isShort && { default: rest.default! }) };
}
