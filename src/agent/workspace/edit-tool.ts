import { z } from "zod";
import { loadFile, toText } from "./file-content.ts";
import { checkFresh, saveFile } from "./save-file.ts";
import { toDiff } from "./to-diff.ts";
import { fail, succeed } from "./tool-response.ts";
import { pathSchema, permitted, type Run } from "./workspace-tool.ts";

const MAX_CHARS = 1_000_000;

export const editInput = z.strictObject({
  path: pathSchema,
  oldText: z.string().min(1).max(MAX_CHARS).describe("exactly as in the file"),
  newText: z.string().max(MAX_CHARS),
  all: z.boolean().default(false).describe("replace every occurrence; otherwise there must be exactly one"),
});

export interface EditOutput {
  readonly path: string;
  readonly replaced: number;
  readonly diff?: string;
}

export const runEdit: Run<typeof editInput, EditOutput> = async (input, context, signal) => {
  const path = await permitted(context, "fs-write", input.path, signal);
  const before = await loadFile(path);
  if (before === undefined) return fail("NOT_FOUND", `File not found: ${input.path}.`);
  checkFresh(path, before, context);
  const old = toText(before.bytes);
  if (old === undefined) return fail("INVALID_PARAMS", `${input.path} is not UTF-8 text.`);
  if (input.oldText === input.newText) return fail("INVALID_PARAMS", "oldText and newText are the same.");
  const parts = old.split(input.oldText);
  const replaced = parts.length - 1;
  if (replaced === 0)
    return fail("INVALID_PARAMS", `oldText is not in ${input.path}. ${hint(old, input.oldText)}`);
  if (replaced > 1 && !input.all) {
    return fail(
      "INVALID_PARAMS",
      `oldText occurs ${replaced} times in ${input.path}: include more of the text around it, or set all.`,
    );
  }
  signal?.throwIfAborted();
  const text = parts.join(input.newText);
  await saveFile(path, text, before, context);
  const diff = toDiff(input.path, old, text);
  return succeed(
    { path: input.path, replaced, ...(diff !== undefined && { diff }) },
    `Replaced ${replaced} in ${input.path}.`,
  );
};

function hint(text: string, wanted: string): string {
  const squeeze = (each: string) => each.replace(/\s+/g, " ");
  if (squeeze(text).includes(squeeze(wanted)))
    return "It is there with other white space: read the lines again.";
  return "Read the file again.";
}
