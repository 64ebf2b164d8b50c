/** Keeps the end of an endless text, up to a size. */
export interface TextRing {
  add(chunk: Buffer): void;
  text(): string;
}

export function createTextRing(maxBytes: number): TextRing {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add: (chunk) => {
      // A copy, because a slice would keep the whole chunk in memory.
      const kept = Buffer.from(chunk.subarray(Math.max(0, chunk.length - maxBytes)));
      chunks.push(kept);
      size += kept.length;
      while (size - chunks[0]!.length >= maxBytes) size -= chunks.shift()!.length;
    },
    text: () => {
      const all = Buffer.concat(chunks);
      return all.subarray(Math.max(0, all.length - maxBytes)).toString("utf8");
    },
  };
}
