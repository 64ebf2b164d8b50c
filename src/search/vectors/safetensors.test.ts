import { describe, expect, it } from "vitest";
import { HALF_TO_FLOAT, readSafetensors } from "./safetensors.ts";

describe("safetensors", () => {
  const header = {
    __metadata__: { format: "pt" },
    pair: { dtype: "F16", shape: [1, 2], data_offsets: [2, 6] },
  };
  const data = Uint16Array.of(0xffff, 0x3c00, 0xc000);

  it("reads a tensor by name and shape, wherever the file lies in its buffer", () => {
    const whole = file(header, data);
    const shifted = Buffer.concat([Buffer.from("x"), whole]).subarray(1);
    for (const bytes of [whole, shifted]) {
      expect([...readSafetensors(bytes).floats("pair", [1, 2])]).toEqual([1, -2]);
    }
  });

  it("says what is missing, of another shape or cut short", () => {
    const tensors = readSafetensors(file(header, data));
    expect(() => tensors.bits("other", [1, 2])).toThrow("other cannot be used: it is missing");
    expect(() => tensors.bits("__proto__", [1, 2])).toThrow("missing");
    expect(() => tensors.bits("pair", [2, 1])).toThrow("another shape");
    const cut = readSafetensors(file(header, data.subarray(0, 2)));
    expect(() => cut.bits("pair", [1, 2])).toThrow("cut short");
    for (const length of [0, 7, 20]) {
      expect(() => readSafetensors(file(header, data).subarray(0, length))).toThrow("cut short");
    }
  });

  it.each([
    [0x0000, 0],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x3555, 0.333251953125],
    [0x7bff, 65_504],
    [0xfbff, -65_504],
    [0x7c00, Infinity],
  ])("reads the half-precision number %i", (bits, value) => {
    expect(HALF_TO_FLOAT[bits]).toBe(value);
  });
});

function file(header: unknown, data: Uint16Array): Buffer {
  const text = Buffer.from(JSON.stringify(header), "utf8");
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]);
}
