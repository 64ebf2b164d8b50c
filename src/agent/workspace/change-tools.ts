import { lstat, mkdir, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { createTwoFilesPatch } from "diff";
import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { type FileContent, hashOf, loadFile, toText, withPath, withPinnedFolder } from "./file-content.ts";
import { toolProblem } from "./tool-problem.ts";
import { defineWorkspaceTool, pathSchema, permitted, type WorkspaceContext } from "./workspace-tool.ts";

const writeInput = z.strictObject({
  path: pathSchema,
  text: z.string().max(5_000_000).describe("the whole content"),
});

export const writeTool = defineWorkspaceTool({
  name: "write",
  lane: "write",
  description: "Write a whole file: a new one, or one that was read before",
  inputSchema: writeInput,
  examples: [{ args: { path: "notes.md", text: "# Notes\n" } }],
  phrases: ["create file", "save file", "overwrite"],
  run: async (input, context, signal) => {
    const plan = (path: string) => planWrite(input, path, context);
    const { before, text, diff } = await change(input.path, plan, context, signal);
    const created = before === undefined;
    return { path: input.path, created, bytes: Buffer.byteLength(text), ...(diff !== undefined && { diff }) };
  },
});

const MAX_CHARS = 1_000_000;

const editInput = z.strictObject({
  path: pathSchema,
  oldText: z.string().min(1).max(MAX_CHARS).describe("exactly as in the file"),
  newText: z.string().max(MAX_CHARS),
  all: z.boolean().default(false).describe("replace every occurrence; otherwise there must be exactly one"),
});

export const editTool = defineWorkspaceTool({
  name: "edit",
  lane: "write",
  description: "Replace a text that a file has exactly once, and show the diff",
  inputSchema: editInput,
  examples: [{ args: { path: "src/index.ts", oldText: "const limit = 10;", newText: "const limit = 20;" } }],
  phrases: ["change file", "patch", "replace in file"],
  run: async (input, context, signal) => {
    const plan = (path: string) => planEdit(input, path, context);
    const { replaced, diff } = await change(input.path, plan, context, signal);
    return { path: input.path, replaced, ...(diff !== undefined && { diff }) };
  },
});

export const deleteTool = defineWorkspaceTool({
  name: "delete",
  lane: "destructive",
  description: "Delete a file, a link, or an empty folder",
  inputSchema: z.strictObject({ path: pathSchema }),
  examples: [{ args: { path: "notes.md" } }],
  phrases: ["remove file", "rm"],
  run: async (input, context, signal) => {
    const path = await permitted(context, "fs-delete", input.path, signal);
    if (path === context.root)
      throw toolProblem("INVALID_PARAMS", "The project's folder itself cannot be deleted.");
    signal?.throwIfAborted();
    const before = context.checkpoints && (await loadFile(path).catch(() => undefined));
    const kind = await withPinnedFolder(path, async (pinned) => {
      const stat = await lstat(pinned);
      if (!stat.isDirectory()) await unlink(pinned);
      else await rmdir(pinned);
      if (stat.isDirectory()) return "folder";
      return stat.isSymbolicLink() ? "link" : "file";
    }).catch((error) => {
      throw withPath(error, input.path);
    });
    context.seen.delete(path);
    if (kind === "file" && before) context.checkpoints?.note(path, before, undefined);
    return { path: input.path, kind };
  },
});

interface PlannedChange {
  /** The file as it is now; undefined if it does not exist. */
  readonly before: FileContent | undefined;
  /** Its text; undefined if it has none. */
  readonly old: string | undefined;
  readonly text: string;
  /** Undefined if the texts cannot be compared. */
  readonly diff: string | undefined;
}

/**
 * Asks for a change with its diff, and makes it. The plan is made once, so the change that a person saw is the one
 * that is made.
 */
async function change<T extends PlannedChange>(
  given: string,
  plan: (path: string) => Promise<T>,
  context: WorkspaceContext,
  signal: AbortSignal | undefined,
): Promise<T> {
  let shown: Promise<T> | undefined;
  const path = await permitted(context, "fs-write", given, signal, async (target) => {
    shown = plan(target);
    const { old, text, diff } = await shown;
    return diff ?? toWholeDiff(given, old, text);
  });
  const planned = await (shown ?? plan(path));
  signal?.throwIfAborted();
  await saveFile(path, planned, context);
  return planned;
}

/** @throws `INVALID_PARAMS` if the file exists and was not read. */
async function planWrite(
  { path: given, text }: z.output<typeof writeInput>,
  path: string,
  context: WorkspaceContext,
): Promise<PlannedChange> {
  const before = await loadFile(path);
  checkFresh(path, before, context);
  if (before !== undefined && !context.seen.has(path))
    throw toolProblem("INVALID_PARAMS", `${given} exists: read it before you write over it.`);
  const old = before && toText(before.bytes);
  const comparable = before === undefined || old !== undefined;
  return { before, old, text, diff: comparable ? toDiff(given, old, text) : undefined };
}

/** @throws `INVALID_PARAMS` if the text is not there, or not exactly once. */
async function planEdit(
  { path: given, oldText, newText, all }: z.output<typeof editInput>,
  path: string,
  context: WorkspaceContext,
): Promise<PlannedChange & { readonly replaced: number }> {
  const invalid = (message: string) => toolProblem("INVALID_PARAMS", message);
  const before = await loadFile(path);
  if (before === undefined) throw toolProblem("NOT_FOUND", `File not found: ${given}.`);
  checkFresh(path, before, context);
  const old = toText(before.bytes);
  if (old === undefined) throw invalid(`${given} is not UTF-8 text.`);
  if (oldText === newText) throw invalid("oldText and newText are the same.");
  const parts = old.split(oldText);
  const replaced = parts.length - 1;
  if (replaced === 0) throw invalid(`oldText is not in ${given}. ${hint(old, oldText)}`);
  if (replaced > 1 && !all) {
    throw invalid(
      `oldText occurs ${replaced} times in ${given}: include more of the text around it, or set all.`,
    );
  }
  const text = parts.join(newText);
  return { before, old, text, diff: toDiff(given, old, text), replaced };
}

function hint(text: string, wanted: string): string {
  const squeeze = (each: string) => each.replace(/\s+/g, " ");
  if (squeeze(text).includes(squeeze(wanted)))
    return "It is there with other white space: read the lines again.";
  return "Read the file again.";
}

/**
 * Compares a file with its last known content.
 * @throws `CONFLICT` if it has changed since.
 */
function checkFresh(path: string, current: FileContent | undefined, { seen }: WorkspaceContext): void {
  const known = seen.get(path);
  if (known === undefined || known === current?.hash) return;
  throw problem("CONFLICT", { reason: `${path} has changed since it was read; read it again.` });
}

/**
 * Writes a permitted file.
 * @throws `CONFLICT` if the file no longer has the content that the change was planned on.
 */
async function saveFile(
  path: string,
  { before, text }: PlannedChange,
  { seen, checkpoints }: WorkspaceContext,
): Promise<void> {
  const bytes = Buffer.from(text, "utf8");
  await mkdir(dirname(path), { recursive: true });
  await withPinnedFolder(path, async (pinned) => {
    const now = await loadFile(path);
    if (now?.hash !== before?.hash)
      throw problem("CONFLICT", { reason: `${path} was changed by somebody else; read it again.` });
    await writeFileAtomic(pinned, bytes, before?.mode).catch((error) => {
      throw withPath(error, path);
    });
  });
  const hash = hashOf(bytes);
  seen.set(path, hash);
  checkpoints?.note(path, before, hash);
}

/** With more changed lines, comparing costs more than a diff is worth. */
const MAX_EDITS = 2_000;

/** The unified diff between two texts of a file; undefined if they differ too much to compare. */
function toDiff(path: string, before: string | undefined, after: string): string | undefined {
  const from = before === undefined ? "/dev/null" : `a/${path}`;
  return createTwoFilesPatch(from, `b/${path}`, before ?? "", after, undefined, undefined, {
    context: 3,
    maxEditLength: MAX_EDITS,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
}

/** Shows both texts whole, one after the other, for texts that cannot be compared. */
function toWholeDiff(path: string, before: string | undefined, after: string): string {
  const lines = (sign: string, text: string) => text.split("\n").map((line) => `${sign}${line}`);
  return [`--- a/${path}`, `+++ b/${path}`, ...lines("-", before ?? ""), ...lines("+", after)].join("\n");
}
