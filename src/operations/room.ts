import type { Words } from "../schema/say.ts";
import type { ResultOrigin } from "../session/result-keeper.ts";
import type { Json } from "../util/json.ts";
import type { TokenCounter } from "../util/tokens.ts";

/** How much an answer may say, and in which words. */
export interface Room {
  readonly words: Words;
  readonly countTokens: TokenCounter;
  readonly askTokens: number;
  /** Tokens left of the session's budget; infinite without one. */
  readonly tokensLeft: number;
  readonly resultTokens: number;
  readonly helpTokens: number;
  /** Bytes of one result as JSON; infinite if the client shows answers of any size. */
  readonly answerBytes: number;
  /** The session's handle, if the caller has to repeat it. */
  readonly session?: string | undefined;
  /** Stores a value that is too large to show and returns its handle. */
  keep(value: Json, name: string, origin?: ResultOrigin): string;
}
