import { problem } from "../problems/problem.ts";

const MAX_BYTES = 50 * 1024 * 1024;
const MAX_BASE64_BYTES = 256 * 1024;
const JSON_TYPE = /^application\/(?:[^;]*\+)?json\b|^text\/json\b/i;
const TEXT_TYPE =
  /^text\/|^application\/(?:[^;]*\+)?(?:xml|yaml|javascript|x-yaml|graphql|x-www-form-urlencoded)\b/i;

/**
 * Reads the bytes of an answer and counts them as they arrive, whatever the headers claim.
 *
 * @throws `LIMIT_EXCEEDED` once there are more than `limit`.
 */
export async function readBytes(response: Response, name: string, limit = MAX_BYTES): Promise<Buffer> {
  const body = createByteGatherer();
  for await (const chunk of response.body ?? []) {
    body.add(chunk);
    if (body.size > limit) {
      const what = `The answer of ${name}`;
      throw problem("LIMIT_EXCEEDED", { what, actual: `over ${limit} bytes`, limit: `${limit} bytes` });
    }
  }
  return body.take();
}

/** Converts the bytes of an answer to a value: JSON parsed, text as text, anything else described. */
export function readValue(response: Response, bytes: Buffer): unknown {
  const contentType = response.headers.get("content-type") ?? "";
  if (bytes.length === 0) return null;
  if (JSON_TYPE.test(contentType)) return parsed(bytes, contentType);
  if (TEXT_TYPE.test(contentType)) return decoded(bytes, contentType);
  if (contentType === "" && isText(bytes)) return parsed(bytes, contentType);
  return {
    content_type: contentType || "application/octet-stream",
    bytes: bytes.length,
    ...(bytes.length <= MAX_BASE64_BYTES
      ? { base64: bytes.toString("base64") }
      : { note: `Over ${MAX_BASE64_BYTES} bytes, so the content is left out.` }),
  };
}

/** Returns invalid JSON as text, which is still useful. */
function parsed(bytes: Buffer, contentType: string): unknown {
  const text = decoded(bytes, contentType);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function decoded(bytes: Buffer, contentType: string): string {
  const charset = /charset="?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function isText(bytes: Buffer): boolean {
  return !bytes.subarray(0, 1024).includes(0);
}

const EMPTY = Buffer.alloc(0);

/** Joins chunks. Copies them as they arrive: each separate chunk, however small, takes hundreds of bytes. */
export function createByteGatherer() {
  let gathered: Buffer = EMPTY;
  let size = 0;
  return {
    /** Bytes gathered so far. */
    get size() {
      return size;
    },
    add: (chunk: Uint8Array): void => {
      const whole = size + chunk.length;
      if (size === 0) gathered = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      else {
        if (whole > gathered.length) gathered = copied(gathered, size, Math.max(2 * size, whole));
        gathered.set(chunk, size);
      }
      size = whole;
    },
    /** Returns all bytes and starts anew. A single chunk is returned without a copy. */
    take: (): Buffer => {
      const taken = gathered.subarray(0, size);
      gathered = EMPTY;
      size = 0;
      return taken;
    },
  };
}

function copied(bytes: Buffer, size: number, room: number): Buffer {
  const larger = Buffer.allocUnsafe(room);
  bytes.copy(larger, 0, 0, size);
  return larger;
}
