import type { Lane } from "../../core/nouns/entry.ts";

/** The effect of a tool, in words for people. */
export const DOES: Readonly<Record<Lane, string>> = {
  read: "reads",
  write: "writes",
  destructive: "destroys",
};
