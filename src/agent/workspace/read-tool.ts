import { z } from "zod";
import { countOf } from "../../base/util/count-of.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { describeImage, imageTypeOf, isBinary, loadFile } from "./file-content.ts";
import { fail, succeed } from "./tool-response.ts";
import { pathSchema, permitted, type ToolRun } from "./workspace-tool.ts";

const LINE_CHARS = 2_000;
/** About 8,000 tokens, with the numbers of the lines. */
const MAX_CHARS = 28_000;
/** Providers refuse larger images. */
const MAX_IMAGE_BYTES = 5 * 2 ** 20;

export const readInput = z.strictObject({
  path: pathSchema,
  offset: z.int().min(1).default(1).describe("the first line, counted from 1"),
  limit: z.int().min(1).max(10_000).default(2_000).describe("how many lines"),
});

export interface ReadOutput {
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
export interface ImageOutput {
  readonly path: string;
  readonly image: { readonly type: "image"; readonly mimeType: string; readonly data: string };
}

/** Numbered lines, after a line that says which they are. */
export function readText(output: ReadOutput): string | ImageOutput {
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

export const runRead: ToolRun<typeof readInput, ReadOutput> = async (input, context, signal) => {
  const path = await permitted(context, "fs-read", input.path, signal);
  const content = await loadFile(path);
  if (content === undefined) return fail("NOT_FOUND", `File not found: ${input.path}.`);
  const mediaType = isBinary(content.bytes) ? imageTypeOf(content.bytes) : undefined;
  if (mediaType !== undefined && content.bytes.length <= MAX_IMAGE_BYTES) {
    const image = { type: "image", mimeType: mediaType, data: content.bytes.toString("base64") } as const;
    const nothing = { text: "", firstLine: 1, lastLine: 0, totalLines: 0, cutLines: 0 };
    const about = describeImage(mediaType, content.bytes);
    return succeed({ path: input.path, ...nothing, image }, `${input.path}: ${about}.`);
  }
  if (isBinary(content.bytes)) {
    return fail(
      "INVALID_PARAMS",
      `${input.path} is binary (${content.bytes.length} bytes) and is not shown.`,
    );
  }
  context.seen.set(path, content.hash);
  const lines = toLines(content.bytes.toString("utf8"));
  if (input.offset > Math.max(1, lines.length)) {
    return fail(
      "INVALID_PARAMS",
      `${input.path} has ${countOf(lines.length, "line")}; offset ${input.offset} is past its end.`,
    );
  }
  const shown: string[] = [];
  let chars = 0;
  let cutLines = 0;
  for (const line of lines.slice(input.offset - 1, input.offset - 1 + input.limit)) {
    if (line.length > LINE_CHARS) cutLines += 1;
    const fitted = cutText(line, LINE_CHARS);
    chars += fitted.length + 1;
    if (chars > MAX_CHARS) break;
    shown.push(fitted);
  }
  const lastLine = input.offset + shown.length - 1;
  const message =
    lastLine < lines.length
      ? `Lines ${input.offset} to ${lastLine} of ${lines.length}; go on with offset ${lastLine + 1}.`
      : `Lines ${input.offset} to ${lastLine} of ${lines.length}, to the end.`;
  return succeed(
    {
      path: input.path,
      text: shown.join("\n"),
      firstLine: input.offset,
      lastLine,
      totalLines: lines.length,
      cutLines,
    },
    message,
  );
};

function toLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
