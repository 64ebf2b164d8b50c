import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { loadEuroWords } from "./euro-table.ts";
import { createStaticEmbedder } from "./static-embedder.ts";

const models = fileURLToPath(new URL("../../../models/", import.meta.url));
const read = async (path: string) => JSON.parse(await readFile(join(models, path), "utf8"));

interface EuroText {
  readonly text: string;
  readonly words: readonly string[];
  readonly classes: string;
  readonly foreign: boolean;
  readonly first8: readonly number[];
}
const euro: { texts: EuroText[]; cosines: number[][] } = await read("static-euro-256/reference.json");
const cjk: { embed: { text: string; cosines: number[] }[] } = await read("cjk-256-pq/reference.json");

const embedder = createStaticEmbedder();
const dot = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, index) => sum + value * other[index]!, 0);

describe("European languages", () => {
  it("reads verbs of other languages as those of tools, imperatives too, and leaves English queries alone", async () => {
    const verbs = async (query: string) => (await embedder.readForeign!(query))?.inVerbsOfTools;
    expect(await verbs("erstelle einen Pull Request")).toBe("create pull request");
    expect(await verbs("crée une pull request")).toBe("create pull request");
    expect(await verbs("cherche un fichier")).toBe("search fichier");
    expect(await verbs("удали папку")).toBe("delete remove папку");
    expect(await verbs("das Wetter in Berlin")).toBeUndefined();
    expect(await embedder.readForeign!("create a pull request")).toBeUndefined();
    expect(await embedder.readForeign!("创建一个文件")).toBeUndefined();
  });

  it("takes no word of a query in another language for a misspelt English one", async () => {
    const read = await embedder.readForeign!("merke dir, dass Bob die Datei mag");
    expect([...read!.words]).toEqual(expect.arrayContaining(["merke", "dir", "datei"]));
    expect(read!.words.has("bob")).toBe(false);
  });

  it("tells foreign texts from English ones as the reference does", async () => {
    const words = await loadEuroWords(join(models, "static-euro-256"));
    const { hasWord } = await embedder.load();
    for (const { text, words: expected, classes, foreign } of euro.texts) {
      const found = words.read(text, hasWord);
      expect(found !== undefined, text).toBe(foreign);
      if (found === undefined) continue;
      expect(found.map((word) => word.text)).toEqual(expected);
      const letters = { known: "f", english: "e", unknown: "u" };
      expect(found.map((word) => letters[word.kind]).join("")).toBe(classes);
    }
  });

  it("gives the vectors and cosines of the reference", async () => {
    const vectors = await embedder.embed(euro.texts.map(({ text }) => text));
    for (const [row, { first8 }] of euro.texts.entries()) {
      for (const [index, value] of first8.entries()) expect(vectors[row]![index]).toBeCloseTo(value, 4);
      for (const [column, other] of vectors.entries()) {
        expect(dot(vectors[row]!, other)).toBeCloseTo(euro.cosines[row]![column]!, 3);
      }
    }
  });
});

describe("Chinese, Japanese and Korean", () => {
  it("gives the cosines of the reference, within what the packing loses", async () => {
    const vectors = await embedder.embed(cjk.embed.map(({ text }) => text));
    for (const [row, { cosines }] of cjk.embed.entries()) {
      for (const [column, cosine] of cosines.entries()) {
        expect(Math.abs(dot(vectors[row]!, vectors[column]!) - cosine)).toBeLessThan(0.08);
      }
    }
  });
});

it("embeds English texts bit for bit as the English table alone does", async () => {
  const alone = createStaticEmbedder({ directory: join(models, "static-en-256") });
  const texts = [
    "Send an email",
    "Show the current weather in La Paz",
    "naïve café menu … “quoted” – 50 €",
    "getUserInfo(user_id: 42)",
    "",
    "🎉",
  ];
  expect(await embedder.embed(texts)).toEqual(await alone.embed(texts));
});

it("reads scripts that a table was made for", () => {
  for (const query of ["send mail", "отправить письмо", "发送邮件", "メールを送る", "메일 보내기"]) {
    expect(embedder.reads?.(query), query).toBe(true);
  }
  for (const query of ["أرسل بريدا", "στείλε μήνυμα", "ส่งอีเมล"]) {
    expect(embedder.reads?.(query), query).toBe(false);
  }
});
