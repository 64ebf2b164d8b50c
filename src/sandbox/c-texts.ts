import { problem } from "../schema/problem.ts";
import type { Pointer, QuickJsModule } from "./load-quickjs.ts";

/** Texts in the memory of an engine, as C has them: UTF-8 that ends with a zero. */
export interface CTexts {
  /** Writes a text for as long as it is in use. */
  write<T>(text: string, use: (at: Pointer, length: number) => T): T;
  read(at: Pointer): string;
  /** The first byte of a text. */
  firstByte(at: Pointer): number;
  /** Writes pointers one after the other. */
  writePointers(at: Pointer, pointers: readonly Pointer[]): void;
}

export const POINTER_BYTES = 4;

export function createCTexts({ memory, malloc, free }: Omit<QuickJsModule, "c">): CTexts {
  let bytes = Buffer.from(memory.buffer);

  /** A memory that has grown has another buffer. */
  function current(): Buffer {
    if (bytes.buffer !== memory.buffer) bytes = Buffer.from(memory.buffer);
    return bytes;
  }

  return {
    write: (text, use) => {
      const length = Buffer.byteLength(text);
      const at = malloc(length + 1);
      if (at === 0) throw problem("INTERNAL", { name: "The engine", reason: "no memory is left" });
      current().write(text, at, length);
      bytes[at + length] = 0;
      try {
        return use(at, length);
      } finally {
        free(at);
      }
    },
    read: (at) => (at === 0 ? "" : current().toString("utf8", at, bytes.indexOf(0, at))),
    firstByte: (at) => current()[at]!,
    writePointers: (at, pointers) => {
      const target = current();
      for (let index = 0; index < pointers.length; index++)
        target.writeUInt32LE(pointers[index]! >>> 0, at + index * POINTER_BYTES);
    },
  };
}
