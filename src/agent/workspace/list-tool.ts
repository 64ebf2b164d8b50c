import { z } from "zod";
import { isInside } from "../permissions/decide.ts";
import { succeed } from "./tool-response.ts";
import { type Walked, walk } from "./walk.ts";
import { pathSchema, permitted, type Run } from "./workspace-tool.ts";

export const listInput = z.strictObject({
  path: pathSchema.default("."),
  depth: z.int().min(1).max(32).default(1).describe("how many folders down"),
  ignored: z.boolean().default(false).describe("include files that .gitignore leaves out"),
  limit: z.int().min(1).max(5_000).default(500),
});

export interface ListOutput {
  readonly path: string;
  readonly entries: readonly Walked[];
  /** Whether there are more entries than the limit. */
  readonly more: boolean;
}

/** One line for each entry; folders end with a slash. */
export function listText({ path, entries, more }: ListOutput): string {
  const end = more ? "; there are more: name a folder below, or raise limit" : "";
  const lines = entries.map((entry) => `${entry.path}${MARKS[entry.kind] ?? ""}`);
  return [`[${entries.length} entries of ${path}${end}]`, ...lines].join("\n");
}

const MARKS: Readonly<Record<string, string>> = { folder: "/", link: "@" };

export const runList: Run<typeof listInput, ListOutput> = async (input, context, signal) => {
  const path = await permitted(context, "fs-read", input.path, signal);
  const top = isInside(path, context.root) ? context.root : path;
  const entries: Walked[] = [];
  let more = false;
  for await (const entry of walk(top, path, { depth: input.depth, ignored: input.ignored, signal })) {
    more = entries.length >= input.limit;
    if (more) break;
    entries.push(entry);
  }
  const message = more
    ? `The first ${entries.length} entries. For more, name a folder below or raise limit.`
    : `${entries.length} entries.`;
  return succeed({ path: input.path, entries, more }, message);
};
