import { lstat, mkdir, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { createTwoFilesPatch } from "diff";
import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { type FileContent, hashOf, loadFile, toText, withPath, withPinnedFolder } from "./file-content.ts";
import { fail, succeed, toProblem } from "./tool-response.ts";
import { pathSchema, permitted, type ToolRun, type WorkspaceContext } from "./workspace-tool.ts";

/** A change of a file before it is made. */
export interface PlannedChange {
  /** The file as it is now; undefined if it does not exist. */
  readonly before: FileContent | undefined;
  /** Its text; undefined if it has none. */
  readonly old: string | undefined;
  readonly text: string;
  /** Undefined if the texts cannot be compared. */
  readonly diff: string | undefined;
}

/**
 * Asks for a change with its diff. The plan is made once, so the change that a person saw is the one that is made.
 * @throws `TOOL_FAILED` if permission is denied, or the problem of the plan.
 */
export async function permittedChange<T extends PlannedChange>(
  given: string,
  plan: (path: string) => Promise<T>,
  context: WorkspaceContext,
  signal: AbortSignal | undefined,
): Promise<{ readonly path: string; readonly change: T }> {
  let planned: Promise<T> | undefined;
  const path = await permitted(context, "fs-write", given, signal, async (target) => {
    planned = plan(target);
    const { old, text, diff } = await planned;
    return diff ?? toWholeDiff(given, old, text);
  });
  const change = await (planned ?? plan(path));
  signal?.throwIfAborted();
  return { path, change };
}

/**
 * Compares a file with its last known content.
 * @throws `CONFLICT` if it has changed since.
 */
export function checkFresh(path: string, current: FileContent | undefined, { seen }: WorkspaceContext): void {
  const known = seen.get(path);
  if (known === undefined || known === current?.hash) return;
  throw problem("CONFLICT", { reason: `${path} has changed since it was read; read it again.` });
}

/**
 * Writes a permitted file.
 * @throws `CONFLICT` if the file no longer has the content `before`.
 */
export async function saveFile(
  path: string,
  text: string,
  before: FileContent | undefined,
  { seen, checkpoints }: WorkspaceContext,
): Promise<void> {
  const bytes = Buffer.from(text, "utf8");
  await mkdir(dirname(path), { recursive: true });
  await withPinnedFolder(path, async (pinned) => {
    const now = await loadFile(path);
    if (now?.hash !== before?.hash) {
      throw problem("CONFLICT", { reason: `${path} was changed by somebody else; read it again.` });
    }
    await writeFileAtomic(pinned, bytes, before?.mode).catch((error) => {
      throw withPath(error, path);
    });
  });
  const hash = hashOf(bytes);
  seen.set(path, hash);
  checkpoints?.note(path, before, hash);
}

const CONTEXT_LINES = 3;
/** With more changed lines, comparing costs more than a diff is worth. */
const MAX_EDITS = 2_000;

/** The unified diff between two texts of a file; undefined if they differ too much to compare. */
export function toDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
): string | undefined {
  const from = before === undefined ? "/dev/null" : `a/${path}`;
  const to = after === undefined ? "/dev/null" : `b/${path}`;
  return createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
}

/** Shows both texts whole, one after the other, for texts that cannot be compared. */
function toWholeDiff(path: string, before: string | undefined, after: string): string {
  const lines = (sign: string, text: string) => text.split("\n").map((line) => `${sign}${line}`);
  return [`--- a/${path}`, `+++ b/${path}`, ...lines("-", before ?? ""), ...lines("+", after)].join("\n");
}

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

export const runWrite: ToolRun<typeof writeInput, WriteOutput> = async (input, context, signal) => {
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

export const runEdit: ToolRun<typeof editInput, EditOutput> = async (input, context, signal) => {
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
  if (old === undefined) throw invalidEdit(`${input.path} is not UTF-8 text.`);
  if (input.oldText === input.newText) throw invalidEdit("oldText and newText are the same.");
  const parts = old.split(input.oldText);
  const replaced = parts.length - 1;
  if (replaced === 0) throw invalidEdit(`oldText is not in ${input.path}. ${hint(old, input.oldText)}`);
  if (replaced > 1 && !input.all) {
    throw invalidEdit(
      `oldText occurs ${replaced} times in ${input.path}: include more of the text around it, or set all.`,
    );
  }
  const text = parts.join(input.newText);
  return { before, old, text, diff: toDiff(input.path, old, text), replaced };
}

function invalidEdit(message: string) {
  return toProblem(fail("INVALID_PARAMS", message));
}

function hint(text: string, wanted: string): string {
  const squeeze = (each: string) => each.replace(/\s+/g, " ");
  if (squeeze(text).includes(squeeze(wanted)))
    return "It is there with other white space: read the lines again.";
  return "Read the file again.";
}

export const deleteInput = z.strictObject({ path: pathSchema });

export interface DeleteOutput {
  readonly path: string;
  readonly kind: "file" | "folder" | "link";
}

/** Deletes a file, a link (not its target) or an empty folder. */
export const runDelete: ToolRun<typeof deleteInput, DeleteOutput> = async (input, context, signal) => {
  const path = await permitted(context, "fs-delete", input.path, signal);
  if (path === context.root) return fail("INVALID_PARAMS", "The project's folder itself cannot be deleted.");
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
  return succeed({ path: input.path, kind }, `Deleted the ${kind} ${input.path}.`);
};
