import { describe, expect, it } from "vitest";
import { applyNorm, gelu, softmax } from "./transformer-math.ts";

describe("transformer math", () => {
  it.each([
    [0, 0],
    [1, 0.841344746],
    [-1, -0.158655254],
    [3, 2.995950306],
    [-20, 0],
    [20, 20],
  ])("knows gelu(%d)", (value, expected) => {
    expect(gelu(value)).toBeCloseTo(expected, 6);
  });

  it("makes weights of any values, however large", () => {
    const values = Float64Array.of(1000, 1000 + Math.log(3), -1000);
    softmax(values);
    expect(values[0]).toBeCloseTo(0.25, 9);
    expect(values[1]).toBeCloseTo(0.75, 9);
    expect(values[2]).toBe(0);
  });

  it("normalises each row by itself", () => {
    const states = Float32Array.of(1, 3, -10, 10, 5, 5);
    applyNorm({ weight: Float32Array.of(1, 2), bias: Float32Array.of(0, 1) }, states);
    expect([...states].map((value) => Math.round(value * 1000) / 1000)).toEqual([-1, 3, -1, 3, 0, 1]);
  });
});
