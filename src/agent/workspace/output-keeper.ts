/** Keeps the beginning and the end of a long output, within a number of bytes. */
export interface OutputKeeper {
  add(chunk: Buffer): void;
  end(): { output: string; cutBytes: number };
}

/** Creates a keeper that holds at most about `maxBytes`. */
export function createOutputKeeper(maxBytes: number): OutputKeeper {
  const half = Math.ceil(maxBytes / 2);
  let head = Buffer.alloc(0);
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let cutBytes = 0;

  function add(chunk: Buffer): void {
    const room = half - head.length;
    if (room > 0) head = Buffer.concat([head, chunk.subarray(0, room)]);
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    tail.push(rest);
    tailBytes += rest.length;
    // Trim only now and then, so that small chunks do not cost a copy each.
    if (tailBytes > half * 2) trim();
  }

  function trim(): void {
    const whole = Buffer.concat(tail);
    const kept = whole.subarray(Math.max(0, whole.length - half));
    cutBytes += whole.length - kept.length;
    tail = [Buffer.from(kept)];
    tailBytes = kept.length;
  }

  return {
    add,
    end() {
      trim();
      const last = tail[0]?.toString("utf8") ?? "";
      if (cutBytes === 0) return { output: Buffer.concat([head, ...tail]).toString("utf8"), cutBytes };
      return { output: `${head.toString("utf8")}\n… ${cutBytes} bytes left out …\n${last}`, cutBytes };
    },
  };
}
