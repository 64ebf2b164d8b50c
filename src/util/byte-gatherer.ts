/** Gathers chunks into one. */
export interface ByteGatherer {
  /** Bytes gathered so far. */
  readonly size: number;
  add(chunk: Uint8Array): void;
  /** Returns all bytes and begins anew. A single chunk is returned as it came. */
  take(): Buffer;
}

const EMPTY = Buffer.alloc(0);

/** Copies chunks as they come: a sender may choose small ones, and each kept apart takes hundreds of bytes. */
export function createByteGatherer(): ByteGatherer {
  let gathered: Buffer = EMPTY;
  let size = 0;
  return {
    get size() {
      return size;
    },
    add: (chunk) => {
      const whole = size + chunk.length;
      if (size === 0) gathered = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      else {
        if (whole > gathered.length) gathered = copied(gathered, size, Math.max(2 * size, whole));
        gathered.set(chunk, size);
      }
      size = whole;
    },
    take: () => {
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
