import { z } from "zod";
import { loadFile, toText } from "./file-content.ts";
import { checkFresh, type PlannedChange, permittedChange, saveFile } from "./save-file.ts";
import { toDiff } from "./to-diff.ts";
import { fail, succeed, toProblem } from "./tool-response.ts";
import { pathSchema, type Run, type WorkspaceContext } from "./workspace-tool.ts";

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
  const plan = (path: string) => planEdit(input, path, context);
  const { path, change } = await permittedChange(input.path, plan, context, signal);
  await saveFile(path, change.text, change.before, context);
  const { replaced, diff } = change;
  return succeed(
    { path: input.path, replaced, ...(diff !== undefined && { diff }) },
    `Replaced ${replaced} in ${input.path}.`,
  );
};

/** @throws `TOOL_FAILED` if the text is not there, or not exactly once. */
async function planEdit(
  input: z.output<typeof editInput>,
  path: string,
  context: WorkspaceContext,
): Promise<PlannedChange & { readonly replaced: number }> {
  const before = await loadFile(path);
  if (before === undefined) throw toProblem(fail("NOT_FOUND", `File not found: ${input.path}.`));
  checkFresh(path, before, context);
  const old = toText(before.bytes);
  if (old === undefined) throw invalid(`${input.path} is not UTF-8 text.`);
  if (input.oldText === input.newText) throw invalid("oldText and newText are the same.");
  const parts = old.split(input.oldText);
  const replaced = parts.length - 1;
  if (replaced === 0) throw invalid(`oldText is not in ${input.path}. ${hint(old, input.oldText)}`);
  if (replaced > 1 && !input.all) {
    throw invalid(
      `oldText occurs ${replaced} times in ${input.path}: include more of the text around it, or set all.`,
    );
  }
  const text = parts.join(input.newText);
  return { before, old, text, diff: toDiff(input.path, old, text), replaced };
}

function invalid(message: string) {
  return toProblem(fail("INVALID_PARAMS", message));
}

function hint(text: string, wanted: string): string {
  const squeeze = (each: string) => each.replace(/\s+/g, " ");
  if (squeeze(text).includes(squeeze(wanted)))
    return "It is there with other white space: read the lines again.";
  return "Read the file again.";
}
