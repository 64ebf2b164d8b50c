import { isDeepStrictEqual } from "node:util";
import type { Observed, TapRecord } from "./observed.ts";
import type { Step } from "./scenarios.ts";
import { type ReadResult, toolResults } from "./tool-results.ts";

/** One step of a scenario: the call that reached Keyhole, its answer, and the text that reached the model. */
export interface StepSeen {
  /** Arguments as the client sent them. */
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
  /** The text that Keyhole rendered. */
  readonly rendered: string;
  readonly isError: boolean;
  /** The parts that came with the text. */
  readonly structured: boolean;
  readonly read?: ReadResult | undefined;
}

type Message = NonNullable<TapRecord["message"]>;

/** Follows a step through the tap and the requests. */
export function stepSeen(observed: Observed, steps: readonly Step[], id: string): StepSeen {
  const index = steps.findIndex((step) => step.id === id);
  const calls = callsOf(observed, steps[index]!);
  const last = calls.at(-1);
  const result = last && answerTo(observed, last)?.result;
  const content = (result?.content ?? []) as { type: string; text?: string }[];
  return {
    sent: last?.params?.arguments as StepSeen["sent"],
    rendered: content.flatMap(({ text }) => text ?? []).join("\n"),
    isError: result?.isError === true,
    structured: result?.structuredContent !== undefined,
    read: longestRead(observed)[observed.reveals + index],
  };
}

/** The messages between client and server, one way. */
export function messages({ tap }: Observed, from: "client" | "server"): Message[] {
  return tap.flatMap((record) => (record.from === from && record.message ? [record.message] : []));
}

/** The whole conversation: clients repeat it in every request, and other requests are about other things. */
function longestRead({ requests }: Observed): ReadResult[] {
  const all = requests.map(toolResults);
  return all.reduce((longest, results) => (results.length > longest.length ? results : longest), []);
}

/** A question to a person repeats the call with the answer, so a step may have several calls. */
function callsOf(observed: Observed, { tool, args }: Step): Message[] {
  return messages(observed, "client").filter(({ method, params }) => {
    const given = params?.arguments as Record<string, unknown> | undefined;
    if (method !== "tools/call" || params?.name !== tool) return false;
    // Clients drop or add fields of their own; what is called stays.
    return ["query", "routes", "op"].every((field) => isDeepStrictEqual(given?.[field], args[field]));
  });
}

function answerTo(observed: Observed, { id }: Message): Message | undefined {
  return messages(observed, "server").find((message) => message.id === id && !message.method);
}
