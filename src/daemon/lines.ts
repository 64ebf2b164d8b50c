const NEWLINE = 0x0a;

/** Splits chunks into whole lines, each with its line end. The rest waits for the next chunk. */
export function createLineSplitter(): (chunk: Buffer) => Buffer[] {
  let rest: Buffer[] = [];
  return (chunk) => {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end + 1);
      lines.push(rest.length === 0 ? last : Buffer.concat([...rest, last]));
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
    return lines;
  };
}

/** Writes a message as one line, with its line end. */
export function toLine(message: object): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}
