import type { Json } from "../../base/util/json.ts";

/** An image, a sound, a file or a link of a result. A model gets it as what it is, never as base64 text. */
export type Block =
  | { readonly type: "image" | "audio"; readonly mimeType: string; readonly data: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType?: string; readonly blob: string };
    }
  | {
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly mimeType?: string;
    };

export interface Lifted {
  /** The value, in which a note of type and size stands for the data of each block. */
  readonly value: Json;
  /** The block of each note. */
  readonly blocks: ReadonlyMap<Json, Block>;
}

export type JsonRecord = { readonly [key: string]: Json };

const MOST_BLOCKS = 16;
const MOST_CHARS = 8_000_000;
const MOST_DEPTH = 6;
const MOST_ITEMS = 1_000;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MIME_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}(; ?[\w.+=-]{1,64})?$/;

/** Takes the data of images, sounds and files out of a value, and finds its links. */
export function liftBlocks(value: Json): Lifted {
  const blocks = new Map<Json, Block>();

  function walk(part: Json, depth: number): Json {
    if (part === null || typeof part !== "object" || depth > MOST_DEPTH) return part;
    if (Array.isArray(part)) {
      const items = part.slice(0, MOST_ITEMS).map((item) => walk(item, depth + 1));
      return items.every((item, at) => item === part[at]) ? part : [...items, ...part.slice(MOST_ITEMS)];
    }
    const block = toBlock(part);
    if (block) {
      const note = toNote(part, block);
      blocks.set(note, block);
      return note;
    }
    if (Object.keys(part).length > MOST_ITEMS) return part;
    const fields = Object.entries(part).map(([key, field]) => [key, walk(field, depth + 1)] as const);
    return fields.every(([key, field]) => field === part[key]) ? part : Object.fromEntries(fields);
  }

  return { value: walk(value, 0), blocks };
}

/** The blocks whose notes are in a part of a lifted value. `whole` is false if there are more than an answer takes. */
export function blocksIn(
  content: Json,
  blocks: Lifted["blocks"],
): { readonly blocks: readonly Block[]; readonly whole: boolean } {
  const found: Block[] = [];
  let chars = 0;
  let whole = true;
  const walk = (part: Json): void => {
    if (part === null || typeof part !== "object") return;
    const block = blocks.get(part);
    if (!block) {
      for (const inner of Object.values(part)) walk(inner);
      return;
    }
    const size = dataOf(block).length;
    const fits = found.length < MOST_BLOCKS && chars + size <= MOST_CHARS;
    if (fits) found.push(block);
    chars += fits ? size : 0;
    whole &&= fits || size === 0;
  };
  if (blocks.size > 0) walk(content);
  return { blocks: found, whole };
}

/** Links stay as they are: a text names them too. */
function toNote(part: JsonRecord, block: Block): Json {
  if (block.type === "resource_link") return part as Json;
  const { uri, mimeType } = isJsonRecord(part.resource) ? part.resource : part;
  return {
    type: block.type,
    ...(uri !== undefined && { uri }),
    ...(mimeType !== undefined && { mimeType }),
    bytes: Buffer.byteLength(dataOf(block), "base64"),
  };
}

/** A block that is not well-formed stays in the value: one bad block can make a client refuse the whole answer. */
function toBlock(part: JsonRecord): Block | undefined {
  const { type, data, uri, name } = part;
  const { mimeType } = mimeTypeOf(part);
  if (type === "image" || type === "audio")
    return isBase64(data) && mimeType !== undefined ? { type, mimeType, data } : undefined;
  if (type === "resource_link") {
    if (!isText(uri)) return undefined;
    return { type, uri, name: isText(name) ? name : uri, ...mimeTypeOf(part) };
  }
  if (type === "resource" && isJsonRecord(part.resource)) return toFile(part.resource, part.resource.blob);
  return type === "resource" || (type === undefined && typeof part.bytes === "number")
    ? toFile(part, data)
    : undefined;
}

/** A file that is an image or a sound becomes one: clients drop files that they do not know. */
function toFile(part: JsonRecord, blob: Json | undefined): Block | undefined {
  if (!isBase64(blob)) return undefined;
  const { uri } = part;
  const { mimeType } = mimeTypeOf(part);
  if (mimeType?.startsWith("image/")) return { type: "image", mimeType, data: blob };
  if (mimeType?.startsWith("audio/")) return { type: "audio", mimeType, data: blob };
  return isText(uri) ? { type: "resource", resource: { uri, ...mimeTypeOf(part), blob } } : undefined;
}

function mimeTypeOf({ mimeType }: JsonRecord): { readonly mimeType?: string } {
  return typeof mimeType === "string" && MIME_TYPE.test(mimeType) ? { mimeType } : {};
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "" && value.isWellFormed();
}

function dataOf(block: Block): string {
  if (block.type === "resource_link") return "";
  return block.type === "resource" ? block.resource.blob : block.data;
}

function isBase64(value: Json | undefined): value is string {
  return typeof value === "string" && value.length % 4 === 0 && BASE64.test(value);
}

interface HasBlocks {
  readonly blocks?: readonly Block[];
}

/** The images, sounds, files and links in the answer of any operation, in the order of its results. */
export function blocksOf(answer: unknown): readonly Block[] {
  const { blocks = [], results = [] } = (answer ?? {}) as HasBlocks & {
    readonly results?: readonly { readonly data?: HasBlocks; readonly exec?: HasBlocks }[];
  };
  return [...blocks, ...results.flatMap(({ data, exec }) => (data ?? exec)?.blocks ?? [])];
}

export function isJsonRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
