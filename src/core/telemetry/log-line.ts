import { createRedact } from "../../base/safety/redact.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import type { KeyholeEvent } from "./events.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** A level of the log: it tells events of this level and of those after it. */
export type LogLineLevel = (typeof LOG_LEVELS)[number];

const LINE_CHARS = 2_000;
/** Known secrets are already hidden in events; text of servers may hold unknown ones. */
const redact = createRedact([], { kinds: true });

/** An event as a line of the log; undefined below the level. It never has arguments or results. */
export function toLogLine(event: KeyholeEvent, level: LogLineLevel): string | undefined {
  const own = levelOf(event);
  if (LOG_LEVELS.indexOf(own) < LOG_LEVELS.indexOf(level)) return undefined;
  return `keyhole ${own}: ${toVisibleText(redact(toText(event)), LINE_CHARS).replace(/\s+/g, " ")}`;
}

function levelOf(event: KeyholeEvent): LogLineLevel {
  if (event.type === "notice") return event.notice === "guidance-dropped" ? "info" : "warn";
  if (event.type !== "source") return "debug";
  if (event.state === "failed") return "error";
  // A folder that is still empty is no news at every start.
  return event.state === "loading" || event.entries === 0 ? "debug" : "info";
}

function toText(event: KeyholeEvent): string {
  if (event.type === "notice") return `${event.notice}: ${event.detail}`;
  if (event.type === "source") {
    const { source, state, entries, detail } = event;
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
