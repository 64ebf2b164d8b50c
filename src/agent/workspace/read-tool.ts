import { z } from "zod";
import { knowSensitiveText } from "../../base/safety/known-secrets.ts";
import { countOf } from "../../base/util/count-of.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { holdsSecrets } from "../permissions/sensitive-path.ts";
import { imageTypeOf, isBinary, loadFile } from "./file-content.ts";
import { toolProblem } from "./tool-problem.ts";
import { defineWorkspaceTool, pathSchema, permitted, type WorkspaceContext } from "./workspace-tool.ts";

const LINE_CHARS = 2_000;
/** About 8,000 tokens, with the numbers of the lines. */
const MAX_CHARS = 28_000;
/** Providers refuse larger images. */
const MAX_IMAGE_BYTES = 5 * 2 ** 20;

const readInput = z.strictObject({
  path: pathSchema,
  offset: z.int().min(1).default(1).describe("the first line, counted from 1"),
  limit: z.int().min(1).max(10_000).default(2_000).describe("how many lines"),
});

export const readTool = defineWorkspaceTool({
  name: "read",
  lane: "read",
  description: "Read a text file of the project, all of it or a range of lines, or see an image",
  inputSchema: readInput,
  examples: [{ args: { path: "src/index.ts", offset: 1, limit: 200 } }],
  phrases: ["open file", "show file", "cat", "view source"],
  run: read,
  toText: readText,
});

interface ReadOutput {
  readonly path: string;
  readonly text: string;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly totalLines: number;
  /** How many lines were cut because they are too long. */
  readonly cutLines: number;
  /** The file itself, if it is an image; it has no lines then. */
  readonly image?: ImageOutput["image"];
}

/** An image as a result: the model sees the picture. */
interface ImageOutput {
  readonly path: string;
  readonly image: { readonly type: "image"; readonly mimeType: string; readonly data: string };
}

/** Numbered lines, after a line that says which they are. */
function readText(output: ReadOutput): string | ImageOutput {
  return output.image ? { path: output.path, image: output.image } : linesText(output);
}

function linesText({ path, text, firstLine, lastLine, totalLines, cutLines }: ReadOutput): string {
  if (totalLines === 0) return `[${path} is empty]`;
  const rest =
    lastLine < totalLines ? `; go on with offset ${lastLine + 1}` : firstLine > 1 ? ", to the end" : "";
  const cut = cutLines > 0 ? `; ${cutLines} long lines are cut at ${LINE_CHARS} characters` : "";
  const lines = text.split("\n").map((line, index) => `${firstLine + index}\t${line}`);
  return `[${path}, lines ${firstLine} to ${lastLine} of ${totalLines}${rest}${cut}]\n${lines.join("\n")}`;
}

async function read(
  { path: given, offset, limit }: z.output<typeof readInput>,
  context: WorkspaceContext,
  signal?: AbortSignal,
): Promise<ReadOutput> {
  const path = await permitted(context, "fs-read", given, signal);
  const content = await loadFile(path);
  if (content === undefined) throw toolProblem("NOT_FOUND", `File not found: ${given}.`);
  const { bytes, hash } = content;
  if (holdsSecrets(path, context.permissions.root)) knowSensitiveText(bytes.toString("utf8"));
  if (isBinary(bytes)) return { path: given, ...NO_LINES, image: toImage(given, bytes) };
  context.seen.set(path, hash);
  const lines = toLines(bytes.toString("utf8"));
  if (offset > Math.max(1, lines.length)) {
    const length = countOf(lines.length, "line");
    throw toolProblem("INVALID_PARAMS", `${given} has ${length}; offset ${offset} is past its end.`);
  }
  const shown: string[] = [];
  let chars = 0;
  let cutLines = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    if (line.length > LINE_CHARS) cutLines += 1;
    const fitted = cutText(line, LINE_CHARS);
    chars += fitted.length + 1;
    if (chars > MAX_CHARS) break;
    shown.push(fitted);
  }
  const lastLine = offset + shown.length - 1;
  const text = shown.join("\n");
  return { path: given, text, firstLine: offset, lastLine, totalLines: lines.length, cutLines };
}

const NO_LINES = { text: "", firstLine: 1, lastLine: 0, totalLines: 0, cutLines: 0 };

/** @throws `INVALID_PARAMS` for binary files that models do not take. */
function toImage(path: string, bytes: Buffer): ImageOutput["image"] {
  const mimeType = imageTypeOf(bytes);
  if (mimeType === undefined || bytes.length > MAX_IMAGE_BYTES)
    throw toolProblem("INVALID_PARAMS", `${path} is binary (${bytes.length} bytes) and is not shown.`);
  return { type: "image", mimeType, data: bytes.toString("base64") };
}

function toLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
