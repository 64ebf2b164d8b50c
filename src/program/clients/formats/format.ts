import { type Problem, problem } from "../../../base/problems/problem.ts";
import type { PlainObject } from "../../../base/util/plain-object.ts";

export type FormatName = "json" | "toml" | "yaml" | "text";

/** A change of the servers at one path of a config. */
export interface ConfigEdit {
  readonly at: readonly string[];
  readonly remove: readonly string[];
  readonly set: PlainObject;
  /** Whether the servers are a list of objects with a `name`. */
  readonly isList?: boolean;
}

export interface Format {
  /** Parses a text without byte order mark. Throws with a reason. */
  read(text: string): Promise<unknown>;
  /** Changes the servers, and as little else as the format allows. May be wrong; the caller checks. */
  edit(text: string, edit: ConfigEdit, eol: string): Promise<string>;
  /** The text of a new file. */
  readonly empty: string;
}

/** The problem of a text that a format cannot read. */
export function refused(reason: string): Problem {
  return problem("CLIENT_CONFIG_INVALID", { path: "The config", reason }, { reason });
}
