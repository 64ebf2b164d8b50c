import { describe, expect, it } from "vitest";
import { createCorpus } from "../bench/corpus.ts";

const LIST = Array.from({ length: 5_000 }, (_, number) => toLetters(number));

describe("the corpus of the scale benchmark", () => {
  const corpus = createCorpus(1, LIST);

  it("is the same in every process and in any order", () => {
    const again = createCorpus(1, LIST);
    expect(again.at(123)).toEqual([...corpus.batches(200, 50)].flat()[123]);
    expect(again.queries(20, 500)).toEqual(corpus.queries(20, 500));
    expect(createCorpus(2, LIST).at(123)).not.toEqual(corpus.at(123));
  });

  it("has the requested number of documents, each with its own id", () => {
    const documents = [...corpus.batches(1_050, 100)].flat();
    expect(new Set(documents.map((document) => document.id)).size).toBe(1_050);
  });

  it("has descriptions of 8 to 40 words and names of three words", () => {
    for (const { name, description } of [...corpus.batches(500, 100)].flat()) {
      expect(description.split(" ").length).toBeGreaterThanOrEqual(8);
      expect(description.split(" ").length).toBeLessThanOrEqual(40);
      expect(name.split("_")).toHaveLength(3);
    }
  });

  it("keeps the ids and changes the text in another revision", () => {
    expect(corpus.at(7, 1).id).toBe(corpus.at(7).id);
    expect(corpus.at(7, 1).description).not.toBe(corpus.at(7).description);
  });

  it("has a vocabulary that grows, with a few words in many documents", () => {
    const vocabulary = (count: number): Map<string, number> => {
      const counts = new Map<string, number>();
      for (const { description } of [...corpus.batches(count, 1_000)].flat()) {
        for (const word of new Set(description.split(" "))) counts.set(word, (counts.get(word) ?? 0) + 1);
      }
      return counts;
    };
    const large = vocabulary(8_000);
    expect(large.size).toBeGreaterThan(vocabulary(2_000).size * 1.3);
    const frequencies = [...large.values()].sort((one, other) => other - one);
    expect(frequencies[0]!).toBeGreaterThan(800);
    expect(frequencies[Math.floor(frequencies.length / 2)]!).toBeLessThan(20);
  });

  it("asks with 3 to 8 words of one document", () => {
    const documents = [...corpus.batches(300, 300)].flat();
    for (const query of corpus.queries(50, 300)) {
      const words = query.split(" ");
      expect(words.length).toBeGreaterThanOrEqual(3);
      expect(words.length).toBeLessThanOrEqual(8);
      const holds = documents.some(({ description }) => {
        const own = new Set(description.slice(0, -1).split(" "));
        return words.every((word) => own.has(word));
      });
      expect(holds).toBe(true);
    }
  });
});

function toLetters(number: number): string {
  return [...number.toString().padStart(4, "0")].map((digit) => "bcdfghjklm"[Number(digit)]).join("");
}
