import { z } from "zod";
import { loadFile, toText } from "./file-content.ts";
import { checkFresh, type PlannedChange, permittedChange, saveFile } from "./save-file.ts";
import { toDiff } from "./to-diff.ts";
import { fail, succeed, toProblem } from "./tool-response.ts";
import { pathSchema, type Run, type WorkspaceContext } from "./workspace-tool.ts";

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
  const plan = (path: string) => planWrite(input, path, context);
  const { path, change } = await permittedChange(input.path, plan, context, signal);
  const { before, text, diff } = change;
  await saveFile(path, text, before, context);
  const created = before === undefined;
  return succeed(
    { path: input.path, created, bytes: Buffer.byteLength(text), ...(diff !== undefined && { diff }) },
    `${created ? "Created" : "Wrote"} ${input.path}.`,
  );
};

/** @throws `TOOL_FAILED` if the file exists and was not read. */
async function planWrite(
  { path: given, text }: z.output<typeof writeInput>,
  path: string,
  context: WorkspaceContext,
): Promise<PlannedChange> {
  const before = await loadFile(path);
  checkFresh(path, before, context);
  if (before !== undefined && !context.seen.has(path)) {
    throw toProblem(fail("INVALID_PARAMS", `${given} exists: read it before you write over it.`));
  }
  const old = before && toText(before.bytes);
  const comparable = before === undefined || old !== undefined;
  return { before, old, text, diff: comparable ? toDiff(given, old, text) : undefined };
}
