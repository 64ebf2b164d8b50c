import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFloatArena, ROW_GROUP } from "./float-arena.ts";

describe.each(["kernel", "plain"] as const)("float arena (%s)", (engine) => {
  it("computes the layer as it is defined, for any number of rows", () => {
    const shape = fc.record({
      inputs: fc.integer({ min: 1, max: 6 }).map((count) => count * 8),
      outputs: fc.integer({ min: 1, max: 6 }).map((count) => count * 2),
      rows: fc.integer({ min: 1, max: 9 }),
      seed: fc.integer({ min: 1, max: 1000 }),
    });
    fc.assert(
      fc.property(shape, ({ inputs, outputs, rows, seed }) => {
        const arena = createFloatArena(3000, engine);
        const room = Math.ceil(rows / ROW_GROUP) * ROW_GROUP;
        // Whole numbers, so that the order of the sums does not matter.
        const numbers = (length: number, step: number) => {
          const floats = arena.allocate(length);
          for (let index = 0; index < length; index++) floats[index] = ((index * step + seed) % 17) - 8;
          return floats;
        };
        const layer = { inputs, outputs, weights: numbers(inputs * outputs, 7), bias: numbers(outputs, 5) };
        const input = numbers(room * inputs, 3);
        const output = arena.allocate(room * outputs);
        const after = numbers(8, 11).slice();
        arena.applyLinear(layer, input, output, rows);
        for (let row = 0; row < rows; row++) {
          for (let column = 0; column < outputs; column++) {
            let sum = layer.bias[column]!;
            for (let index = 0; index < inputs; index++) {
              sum += input[row * inputs + index]! * layer.weights[column * inputs + index]!;
            }
            expect(output[row * outputs + column]).toBe(sum);
          }
        }
        expect(new Float32Array(output.buffer, output.byteOffset + output.byteLength, 8)).toEqual(after);
      }),
      { numRuns: 50 },
    );
  });
});
