import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStaticEmbedder } from "./static-embedder.ts";

interface Reference {
  readonly texts: string[];
  readonly ids: number[][];
  readonly first8: number[][];
  readonly cosine: number[][];
}

const packaged = fileURLToPath(new URL("../../../models/static-en-256/", import.meta.url));
const reference: Reference = JSON.parse(await readFile(join(packaged, "reference.json"), "utf8"));
const FILES = ["vocab.txt", "vectors.i8", "scales.f32"];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "static-embedder-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe("static embedder", () => {
  const embedder = createStaticEmbedder();

  it("tokenises as the reference does", async () => {
    const { tokenize } = await embedder.load();
    expect(reference.texts.map(tokenize)).toEqual(reference.ids);
  });

  it("gives the vectors and cosines of the reference", async () => {
    const vectors = await embedder.embed(reference.texts);
    for (const [row, vector] of vectors.entries()) {
      expect(vector).toHaveLength(embedder.dimensions);
      expect(dot(vector, vector)).toBeCloseTo(1, 5);
      for (const [index, value] of reference.first8[row]!.entries()) {
        expect(Math.abs(vector[index]! - value)).toBeLessThan(1e-5);
      }
      for (const [column, other] of vectors.entries()) {
        expect(Math.abs(dot(vector, other) - reference.cosine[row]![column]!)).toBeLessThan(1e-4);
      }
    }
  });

  it("skips unknown words and gives zeroes where it knows none", async () => {
    const unknown = "\u{1F0A1}";
    const [plain, mixed, nothing, empty] = await embedder.embed([
      "delete a branch",
      `delete ${unknown} a branch`,
      unknown,
      "",
    ]);
    expect(mixed).toEqual(plain);
    expect(nothing).toEqual(new Float32Array(256));
    expect(empty).toEqual(new Float32Array(256));
  });

  it("answers several callers from one load", async () => {
    const fresh = createStaticEmbedder();
    expect(await fresh.load()).toBe(await createStaticEmbedder().load());
  });

  it("says what is missing, and finds it once it is there", async () => {
    const late = createStaticEmbedder({ directory });
    await expect(late.embed(["text"])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await Promise.all(FILES.map((file) => copyFile(join(packaged, file), join(directory, file))));
    await expect(late.embed(["text"])).resolves.toHaveLength(1);
  });

  it.each(FILES)("refuses a cut %s", async (file) => {
    const whole = await readFile(join(packaged, file));
    await writeFile(join(directory, file), whole.subarray(0, whole.length - 100));
    await expect(createStaticEmbedder({ directory }).load()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("damaged"),
    });
    await writeFile(join(directory, file), whole);
  });
});

function dot(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * right[index]!, 0);
}
