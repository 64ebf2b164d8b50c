const NEWLINE = 0x0a;

/** Splits a byte stream into lines. Joins the parts of a line once, so that long lines cost linear time. */
export interface LineReader {
  /** Returns the lines that the chunk completes; undefined if a line is too long. */
  read(chunk: Buffer): string[] | undefined;
}

export function createLineReader(maxBytes: number): LineReader {
  let parts: Buffer[] = [];
  let size = 0;
  return {
    read: (chunk) => {
      const lines: string[] = [];
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        if (size + end - from > maxBytes) return undefined;
        if (parts.length === 0) lines.push(chunk.toString("utf8", from, end));
        else lines.push(Buffer.concat([...parts, chunk.subarray(from, end)]).toString("utf8"));
        parts = [];
        size = 0;
        from = end + 1;
      }
      if (from < chunk.length) parts.push(chunk.subarray(from));
      size += chunk.length - from;
      return size > maxBytes ? undefined : lines;
    },
  };
}
