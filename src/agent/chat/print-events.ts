import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { toDuration } from "../../base/util/to-duration.ts";
import { type AgentEvent, toPrintable } from "../loop/agent-event.ts";
import { ChatCosts } from "./chat-facts.ts";

export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

type PrintedEnd = Extract<AgentEvent, { type: "agent-end" }>;

export const EXIT_CODES: Readonly<Record<PrintedEnd["outcome"], number>> = {
  answered: 0,
  failed: 1,
  "cut-off": 3,
  "step-limit": 3,
  "token-limit": 3,
  repeating: 3,
  filtered: 4,
  cancelled: 130,
};

export interface Printed {
  /** Writes the model's text line by line as it arrives, instead of the answer at the end. */
  readonly stream?: boolean;
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
}

/** Prints a run, without secrets and with text that no terminal obeys, and returns the exit code, after all output is written. */
export async function printEvents(
  events: AsyncIterable<AgentEvent>,
  format: OutputFormat,
  { out, err, stream = false }: Printed,
): Promise<number> {
  let end: PrintedEnd | undefined;
  let session = "";
  const costs = new ChatCosts();
  let line = "";
  const streams = stream && format === "text";
  for await (const event of events) {
    if (streams && event.type === "llm-text") {
      // Whole lines, because a secret or a sequence of characters may arrive in pieces.
      const lines = `${line}${event.text}`.split("\n");
      line = lines.pop() ?? "";
      for (const whole of lines) await write(out, `${shownText(whole)}\n`);
    } else if (streams && line !== "" && event.type !== "llm-thinking") {
      await write(out, `${shownText(line)}\n`);
      line = "";
    }
    if (format === "stream-json") await write(out, `${shownText(JSON.stringify(toPrintable(event)))}\n`);
    costs.note(event);
    if (event.type === "agent-start") session = event.session;
    if (event.type === "agent-end") end = event;
    const aside = format === "stream-json" ? undefined : asideOf(event);
    if (aside !== undefined) await write(err, `${shownText(aside)}\n`);
  }
  if (!end) return EXIT_CODES.failed;
  const { span: _, type: __, ...result } = end;
  const cost = costs.dollars === undefined ? {} : { cost: costs.dollars };
  if (format === "json") await write(out, `${shownText(JSON.stringify({ session, ...result, ...cost }))}\n`);
  const answer = end.output === undefined ? end.text.replace(/\n+$/, "") : JSON.stringify(end.output);
  const isWritten = streams && end.output === undefined;
  if (format === "text" && answer !== "" && !isWritten) await write(out, `${shownText(answer)}\n`);
  return EXIT_CODES[end.outcome];
}

function asideOf(event: AgentEvent): string | undefined {
  if (event.type === "notice") return event.text;
  if (event.type === "permission-request")
    return [`Permission ${event.scope} needed: ${event.action}`, event.reason].filter(Boolean).join("\n");
  if (event.type === "permission-answer" && event.answer === "deny") return "Permission denied.";
  if (event.type === "llm-retry") return `Retrying in ${toDuration(event.delayMs)}: ${event.reason}`;
  if (event.type !== "agent-end" || event.outcome === "answered") return undefined;
  if (!event.error) return `The run ended: ${event.outcome}.`;
  const { code, message, next } = event.error;
  return `${code}: ${message}\n${next}`;
}

function shownText(text: string): string {
  return hideSecrets(toVisibleText(text));
}

/** Resolves also if the reader has gone, because the run itself is done. */
function write(stream: NodeJS.WritableStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}
