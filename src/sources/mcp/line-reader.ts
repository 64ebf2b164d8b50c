const NEWLINE = 0x0a;

/** Splits a byte stream into lines. Parts of a line wait uncopied, so that a long one costs no more than its length. */
export interface LineReader {
  /** The lines that the chunk completes; undefined if one has become longer than allowed. */
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
        parts.push(chunk.subarray(from, end));
        lines.push(Buffer.concat(parts).toString("utf8"));
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
