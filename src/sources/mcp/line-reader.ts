import { createByteGatherer } from "../../base/net/read-response.ts";

const NEWLINE = 0x0a;

/** Splits bytes into lines in linear time. Returns the lines that a chunk completes; undefined if one is too long. */
export function createLineReader(maxBytes: number): (chunk: Buffer) => string[] | undefined {
  const begun = createByteGatherer();
  return (chunk) => {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      if (begun.size + end - from > maxBytes) return undefined;
      if (begun.size === 0) lines.push(chunk.toString("utf8", from, end));
      else {
        begun.add(chunk.subarray(from, end));
        lines.push(begun.take().toString("utf8"));
      }
      from = end + 1;
    }
    if (from < chunk.length) begun.add(chunk.subarray(from));
    return begun.size > maxBytes ? undefined : lines;
  };
}
