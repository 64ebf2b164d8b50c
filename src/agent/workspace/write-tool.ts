import { z } from "zod";
import { loadFile, toText } from "./file-content.ts";
import { checkFresh, saveFile } from "./save-file.ts";
import { toDiff } from "./to-diff.ts";
import { fail, succeed } from "./tool-response.ts";
import { pathSchema, permitted, type Run } from "./workspace-tool.ts";

export const writeInput = z.strictObject({
  path: pathSchema,
  text: z.string().max(5_000_000).describe("the whole content"),
});

export interface WriteOutput {
  readonly path: string;
  readonly created: boolean;
  readonly bytes: number;
  /** The change as a unified diff; absent if the old content is not text or differs too much. */
  readonly diff?: string;
}

export const runWrite: Run<typeof writeInput, WriteOutput> = async (input, context, signal) => {
  const path = await permitted(context, "fs-write", input.path, signal);
  const before = await loadFile(path);
  checkFresh(path, before, context);
  if (before !== undefined && !context.seen.has(path)) {
    return fail("INVALID_PARAMS", `${input.path} exists: read it before you write over it.`);
  }
  signal?.throwIfAborted();
  await saveFile(path, input.text, before, context);
  const old = before && toText(before.bytes);
  const comparable = before === undefined || old !== undefined;
  const diff = comparable ? toDiff(input.path, old, input.text) : undefined;
  const created = before === undefined;
  return succeed(
    { path: input.path, created, bytes: Buffer.byteLength(input.text), ...(diff !== undefined && { diff }) },
    `${created ? "Created" : "Wrote"} ${input.path}.`,
  );
};
