import { createByteGatherer } from "../../base/net/read-response.ts";

const NEWLINE = 0x0a;

export interface LineLimit {
  readonly bytes: number;
  /** Called at the end of a longer line, of which only the outline was kept. */
  refuse(outline: Buffer): void;
}

/** Splits chunks into whole lines, each with its line end. The rest waits for the next chunk. */
export function createLineSplitter(limit?: LineLimit): (chunk: Buffer) => Buffer[] {
  const begun = createByteGatherer();
  let long: ReturnType<typeof createOutline> | undefined;

  function add(part: Buffer): void {
    if (long) return void long.add(part);
    begun.add(part);
    if (!limit || begun.size <= limit.bytes) return;
    long = createOutline();
    long.add(begun.take());
  }

  return (chunk) => {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end + 1));
      if (long) limit!.refuse(long.take());
      else lines.push(begun.take());
      long = undefined;
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
    return lines;
  };
}

/** Writes a message as one line, with its line end. */
export function toLine(message: object): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
/** A message has few fields besides its params. */
const MAX_BYTES = 4_096;

/** Reads JSON of any size as it passes, and keeps its first level: `{"id":1,"params":{}}`. */
export function createOutline() {
  const kept = createByteGatherer();
  let depth = 0;
  let isText = false;
  let isEscaped = false;

  function read(byte: number): boolean {
    if (isText) {
      isText = isEscaped || byte !== QUOTE;
      isEscaped = !isEscaped && byte === BACKSLASH;
      return depth <= 1;
    }
    if (CLOSING.has(byte)) depth -= 1;
    const isKept = depth <= 1;
    if (OPENING.has(byte)) depth += 1;
    isText = byte === QUOTE;
    return isKept;
  }

  return {
    add: (chunk: Uint8Array) => {
      for (let at = 0; at < chunk.length; at += 1) {
        if (read(chunk[at]!) && kept.size < MAX_BYTES) kept.add(chunk.subarray(at, at + 1));
      }
    },
    /** Cut off if the first level itself is large. */
    take: () => kept.take(),
  };
}
