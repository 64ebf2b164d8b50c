import { keeperOf } from "../session/result-keeper.ts";
import type { Json } from "../util/json.ts";
import { ask } from "./ask.ts";
import { help } from "./help.ts";
import type { OperationContext } from "./operation.ts";
import { readInput } from "./read-input.ts";
import type { Room } from "./room.ts";

/** The words of the functions that a script has. */
const WORDS = { ask: "ask", help: "help", get: "get", exec: "call", run: "run", params: "args" } as const;

/** Searches for a script. The answer has the fields of `ask`. */
export async function askInside(query: string, context: OperationContext): Promise<Json> {
  const { input } = readInput(ask, { query });
  return ask.show(await ask.run(input, context), roomInside(context)) as unknown as Json;
}

/** Describes a path for a script. The answer has the fields of `help`. */
export async function helpInside(path: string, context: OperationContext): Promise<Json> {
  const { input } = readInput(help, { path });
  return help.show(await help.run(input, context), roomInside(context)) as unknown as Json;
}

/** Scripts get whole answers: nothing that they read takes tokens. */
function roomInside({ countTokens, limits, results, view }: OperationContext): Room {
  return {
    words: WORDS,
    countTokens,
    askTokens: limits.resultTokens,
    tokensLeft: Number.POSITIVE_INFINITY,
    resultTokens: Number.POSITIVE_INFINITY,
    helpTokens: Number.POSITIVE_INFINITY,
    answerBytes: Number.POSITIVE_INFINITY,
    keep: (value, _name, origin) => {
      const { handle, stored } = keeperOf(results).keep(value, view.principal, origin);
      // A handle that could not be stored is unknown when it is read.
      stored.catch(() => {});
      return handle;
    },
  };
}
