import { createByteGatherer } from "../util/byte-gatherer.ts";
import { createOutline, type Outline } from "./outline.ts";

const NEWLINE = 0x0a;

export interface LineLimit {
  readonly bytes: number;
  /** Called at the end of a longer line, of which only the outline was kept. */
  refuse(outline: Buffer): void;
}

/** Splits chunks into whole lines, each with its line end. The rest waits for the next chunk. */
export function createLineSplitter(limit?: LineLimit): (chunk: Buffer) => Buffer[] {
  const begun = createByteGatherer();
  let long: Outline | undefined;

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
