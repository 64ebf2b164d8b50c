import { createByteGatherer } from "../util/byte-gatherer.ts";

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
/** A message has few fields besides its params. */
const MAX_BYTES = 4_096;

/** Reads JSON of any size as it passes, and keeps its first level: `{"id":1,"params":{}}`. */
export interface Outline {
  add(chunk: Uint8Array): void;
  /** Cut off if the first level itself is large. */
  take(): Buffer;
}

export function createOutline(): Outline {
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
    add: (chunk) => {
      for (let at = 0; at < chunk.length; at += 1) {
        if (read(chunk[at]!) && kept.size < MAX_BYTES) kept.add(chunk.subarray(at, at + 1));
      }
    },
    take: () => kept.take(),
  };
}
