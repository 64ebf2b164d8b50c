import type { Lane } from "../../core/nouns/entry.ts";

/** What a tool does, in words for people. */
export const DOES: Readonly<Record<Lane, string>> = {
  read: "reads",
  write: "writes",
  destructive: "destroys",
};
