import { createRedact } from "../../base/safety/redact.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import type { KeyholeEvent } from "./events.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** A log level. It includes all later levels. */
export type LogLineLevel = (typeof LOG_LEVELS)[number];

const LINE_CHARS = 2_000;
/** Events already hide known secrets; text of servers may contain unknown ones. */
const redact = createRedact([], { kinds: true });

/** Formats events as log lines without arguments and results. Undefined below the level and for repeated failures. */
export function createLogLines(level: LogLineLevel, now: () => Date = () => new Date()) {
  const failures = new Map<string, string>();

  function isRepeated(event: KeyholeEvent): boolean {
    if (event.type !== "source" || event.state === "loading") return false;
    const { source, state, detail = "" } = event;
    const isSame = state === "failed" && failures.get(source) === detail;
    if (state === "failed") failures.set(source, detail);
    else failures.delete(source);
    return isSame;
  }

  return (event: KeyholeEvent): string | undefined => {
    const eventLevel = levelOf(event);
    // The event of the source says the same.
    if (event.type === "notice" && event.notice === "source-refused") return undefined;
    if (isRepeated(event) || LOG_LEVELS.indexOf(eventLevel) < LOG_LEVELS.indexOf(level)) return undefined;
    const text = toVisibleText(redact(toText(event)), LINE_CHARS).replace(/\s+/g, " ");
    return `${now().toISOString().slice(0, 19)}Z keyhole ${eventLevel}: ${text}`;
  };
}

function levelOf(event: KeyholeEvent): LogLineLevel {
  if (event.type === "notice")
    return event.notice === "guidance-dropped" || event.notice === "lane-guessed" ? "info" : "warn";
  if (event.type !== "source") return "debug";
  if (event.state === "failed") return "error";
  // An empty folder is not news at every start.
  return event.state === "loading" || event.entries === 0 ? "debug" : "info";
}

function toText(event: KeyholeEvent): string {
  if (event.type === "notice") return `${event.notice}: ${event.detail}`;
  if (event.type === "source") {
    const { source, state, entries, detail } = event;
    // The message of a server's problem already names the server.
    if (detail?.startsWith(`The server ${source.replace(/^mcp:/, "")} `)) return detail;
    return `${source} ${state}${entries === undefined ? "" : `, ${countOf(entries, "entry", "entries")}`}${detail ? `: ${detail}` : ""}`;
  }
  if (event.type === "search") return `search by ${event.by ?? "the engine"}: ${event.found} found`;
  if (event.type === "search-used") return `search led to a call after ${Math.round(event.afterMs)} ms`;
  const ms = `${Math.round(event.latencyMs)} ms`;
  if (event.type === "mcp") {
    const { side, method, target, server, error } = event;
    return [side, method, target, server, ms, error].filter((part) => part !== undefined).join(" ");
  }
  return [event.operation, ...event.targets, ms, event.outcome].join(" ");
}
