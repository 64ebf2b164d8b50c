import type { EntryStatus, Lane } from "../../schema/entry.ts";
import type { TracedRequest } from "../../schema/span-context.ts";
import type { ToolOverride } from "./config/overrides.ts";
import type { Upstream } from "./upstream.ts";

/** The server that drafts call. */
export interface DraftOptions {
  readonly label: string;
  /** Identifies the program or the address behind the server. */
  readonly program: string;
  readonly trusted: boolean;
  readonly upstream: Upstream;
  readonly status: EntryStatus | undefined;
  readonly timeoutMs: number | undefined;
  /** Lanes that a person has set, by tool name. */
  readonly lanes: Readonly<Record<string, Lane>>;
  /** A person's words about tools, by the server's names for them. */
  readonly tools: Readonly<Record<string, ToolOverride>>;
  readonly transport: TracedRequest["transport"];
  /** The address of a server over HTTP. */
  readonly url: string | undefined;
}
