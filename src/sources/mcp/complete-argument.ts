import { hideSecrets } from "../../net/known-secrets.ts";
import type { ReadableEntry } from "../../schema/entry.ts";
import { toVisibleLine } from "../../util/visible-text.ts";
import type { DraftOptions } from "./draft-options.ts";
import type { Listing } from "./listing.ts";

/** Names the prompt or template whose argument is completed, in the words of the protocol. */
export type CompletionRef =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

/** Lets the server complete arguments, if it can. */
export function completeArgument(
  ref: CompletionRef,
  check: (listing: Listing) => void,
  { upstream }: DraftOptions,
): NonNullable<ReadableEntry["complete"]> {
  return async (argument, given, signal) => {
    const { completion } = await upstream.run(
      {
        repeatable: true,
        check,
        work: async (client, options) => {
          if (!client.getServerCapabilities()?.completions) return { completion: { values: [] } };
          return client.complete({ ref, argument, context: { arguments: { ...given } } }, options);
        },
      },
      signal,
    );
    return completion.values.map((value) => toVisibleLine(hideSecrets(value)));
  };
}
