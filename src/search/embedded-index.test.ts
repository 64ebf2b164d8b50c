import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeIndex } from "../testing/describe-index.ts";
import { createEmbeddedIndex, type EmbeddedIndex, openEmbeddedIndex } from "./embedded-index.ts";
import type { SearchDocument } from "./port/search-index.ts";
import type { Embedder } from "./vectors/embedder.ts";
import { createStaticEmbedder } from "./vectors/static-embedder.ts";

/** Knows letters: texts with the same letters are near. */
const letters: Embedder = {
  id: "letters@1",
  dimensions: 26,
  async embed(texts) {
    return texts.map((text) => {
      const vector = new Float32Array(26);
      for (const letter of text.toLowerCase()) {
        const place = letter.charCodeAt(0) - 97;
        if (place >= 0 && place < 26) vector[place]!++;
      }
      const length = Math.hypot(...vector) || 1;
      return vector.map((value) => value / length);
    });
  },
};

const filter = { scopes: [] };

describeIndex("embedded", () => createEmbeddedIndex(), { describe, test });
describeIndex("embedded, reopened", reopened, { describe, test });

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-search-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function reopened(): Promise<EmbeddedIndex> {
  const path = join(folder, `empty-${Math.random()}`);
  await createEmbeddedIndex().save(path);
  const opened = await openEmbeddedIndex(path);
  if (!opened.ok) throw new Error(opened.reason);
  return opened.value;
}

function tool(id: string, name: string, description: string): SearchDocument {
  return {
    id,
    kind: "tool",
    domain: "d",
    visibility: "listed",
    scopes: [],
    tags: [],
    name,
    aliases: [],
    description,
    parameters: "",
    domainText: "",
    content: "",
  };
}

const tools = [
  tool("a", "get_weather", "Weather of a city"),
  tool("b", "send_mail", "Sends a mail to people"),
  tool("c", "list_files", "Files of a folder"),
];

describe("vectors beside words", () => {
  test("search is lexical until the vectors are made, and says so", async () => {
    const index = createEmbeddedIndex({ embedder: letters });
    await index.put(tools);
    expect(index.status()).toMatchObject({ mode: "lexical", waiting: 3 });
    expect((await index.search({ query: "weather", limit: 3, filter })).map((hit) => hit.id)).toEqual(["a"]);
    await index.settled();
    expect(index.status()).toEqual({ mode: "hybrid", documents: 3, waiting: 0 });
    const hits = await index.search({ query: "wheatre", limit: 3, filter, explain: true });
    expect(hits[0]?.id).toBe("a");
    expect(hits[0]?.explanation?.vector).toBeGreaterThan(0);
  });

  test("an embedder that fails leaves search lexical and gives the reason", async () => {
    const broken: Embedder = { ...letters, embed: () => Promise.reject(new Error("no network")) };
    const index = createEmbeddedIndex({ embedder: broken });
    await index.put(tools);
    await index.settled();
    expect(index.status()).toMatchObject({ mode: "lexical", reason: "no network" });
    expect((await index.search({ query: "mail", limit: 3, filter })).map((hit) => hit.id)).toEqual(["b"]);
  });

  test("filters, drops and replacements hold for vectors too", async () => {
    const index = createEmbeddedIndex({ embedder: letters });
    await index.put([
      ...tools,
      { ...tools[0]!, id: "secret", scopes: ["s"] },
      { ...tools[0]!, id: "h", visibility: "hidden" },
    ]);
    await index.drop(["b"]);
    await index.settled();
    const ids = async (scopes: string[]) =>
      (await index.search({ query: "weather city mail", limit: 10, filter: { scopes } }))
        .map((hit) => hit.id)
        .sort();
    expect(await ids([])).toEqual(["a", "c"]);
    expect(await ids(["s"])).toEqual(["a", "c", "secret"]);
  });

  test("a document that changes while its vector is made gets the vector of its last text", async () => {
    const index = createEmbeddedIndex({ embedder: letters });
    await index.put([tools[0]!]);
    await index.put([{ ...tools[0]!, name: "zzz", description: "zzz" }]);
    await index.drop(["a"]);
    await index.put([{ ...tools[1]!, id: "a" }]);
    await index.settled();
    expect(index.status()).toEqual({ mode: "hybrid", documents: 1, waiting: 0 });
  });

  test("an index without documents is read again with any embedder", async () => {
    const path = join(folder, "no-documents");
    await createEmbeddedIndex({ embedder: letters }).save(path);
    const opened = await openEmbeddedIndex(path, { embedder: letters });
    if (!opened.ok) throw new Error(opened.reason);
    await opened.value.put(tools);
    expect(opened.value.status().documents).toBe(3);
  });

  test("vectors are saved and read again without the embedder being asked", async () => {
    const path = join(folder, "vectors");
    const index = createEmbeddedIndex({ embedder: letters });
    await index.put(tools);
    await index.save(path);
    const opened = await openEmbeddedIndex(path, { embedder: letters });
    if (!opened.ok) throw new Error(opened.reason);
    expect(opened.value.status()).toEqual({ mode: "hybrid", documents: 3, waiting: 0 });
    const request = { query: "wheatre city", limit: 3, filter };
    expect(await opened.value.search(request)).toEqual(await index.search(request));
    const other = await openEmbeddedIndex(path, { embedder: { ...letters, id: "other@1" } });
    expect(other).toMatchObject({ ok: false, reason: expect.stringContaining("another embedder") });
  });
});

describe("explain", () => {
  test("gives the terms and fields that a score is made of", async () => {
    const index = createEmbeddedIndex();
    await index.put(tools);
    const [hit] = await index.search({ query: "mail people", limit: 1, filter, explain: true });
    const { explanation } = hit!;
    expect(explanation?.terms.map((term) => term.term).sort()).toEqual(["mail", "peopl"]);
    expect(explanation?.terms.find((term) => term.term === "mail")?.fields).toEqual(["name", "description"]);
    expect(explanation?.lexical).toBeCloseTo(hit!.score, 9);
    const sum = Object.values(explanation?.fields ?? {}).reduce((total, score) => total + score, 0);
    expect(sum).toBeCloseTo(hit!.score, 9);
    expect(explanation?.exactName).toBe(false);
  });
});

describe("snapshot", () => {
  async function saved(name: string): Promise<string> {
    const path = join(folder, name);
    const index = createEmbeddedIndex();
    await index.put(tools);
    await index.drop(["c"]);
    await index.save(path);
    return path;
  }

  test("gives the same answers as what was saved, and goes on from there", async () => {
    const opened = await openEmbeddedIndex(await saved("round"));
    if (!opened.ok) throw new Error(opened.reason);
    const fresh = createEmbeddedIndex();
    await fresh.put(tools.slice(0, 2));
    for (const query of ["weather", "a mail to the city", "list_files"]) {
      const request = { query, limit: 10, filter };
      expect(await opened.value.search(request)).toEqual(await fresh.search(request));
    }
    await opened.value.put([tools[2]!]);
    expect((await opened.value.search({ query: "list_files", limit: 1, filter }))[0]?.id).toBe("c");
  });

  test("says why a file is not used", async () => {
    expect(await openEmbeddedIndex(join(folder, "missing"))).toMatchObject({
      ok: false,
      reason: expect.stringContaining("ENOENT"),
    });
    const path = await saved("damaged");
    const bytes = await readFile(path);
    bytes.writeUInt32LE(99, 8);
    await writeFile(path, bytes);
    expect(await openEmbeddedIndex(path)).toMatchObject({
      ok: false,
      reason: expect.stringContaining("version 99"),
    });
    await truncate(path, 10);
    expect(await openEmbeddedIndex(path)).toMatchObject({
      ok: false,
      reason: expect.stringContaining("too short"),
    });
  });

  test("index-damage: every bit flip and truncation is found out", async () => {
    const path = join(folder, "flips");
    const index = createEmbeddedIndex({ embedder: letters });
    await index.put(tools);
    await index.save(path);
    const whole = await readFile(path);
    const change = fc.oneof(
      fc.record({ at: fc.nat(whole.length - 1), bit: fc.nat(7) }),
      fc.record({ length: fc.nat(whole.length - 1) }),
    );
    await fc.assert(
      fc.asyncProperty(change, async (made) => {
        const bytes = Buffer.from("length" in made ? whole.subarray(0, made.length) : whole);
        if ("bit" in made) bytes[made.at]! ^= 1 << made.bit;
        await writeFile(path, bytes);
        expect((await openEmbeddedIndex(path)).ok).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  test("leaves no temporary file behind", async () => {
    await saved("clean");
    expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

describe("a put of very many documents", () => {
  const VERBS = ["get", "list", "send", "delete"];
  const NOUNS = ["weather", "mail", "file", "naïve café", "天气预报", "userProfile"];
  const documents = Array.from({ length: 12_000 }, (_, at): SearchDocument => {
    const noun = NOUNS[at % NOUNS.length]!;
    return {
      ...tool(`d${at % 11_900}`, `${VERBS[at % 4]}_${noun}_${at % 97}`, `${noun} of batch ${at % 31}`),
      kind: at % 5 === 0 ? "skill" : "tool",
      domain: `domain${at % 3}`,
      domainText: "weather and files",
      aliases: at % 7 === 0 ? [`alias ${at}`] : [],
      scopes: at % 11 === 0 ? ["s"] : [],
      visibility: at % 13 === 0 ? "hidden" : "listed",
      ...(at % 17 === 0 && { weights: { name: 2, description: 0 } }),
    };
  });

  test("is analysed in other threads, with the same answers", async () => {
    const whole = createEmbeddedIndex();
    const bit = createEmbeddedIndex();
    await whole.put(documents);
    for (let from = 0; from < documents.length; from += 3_000)
      await bit.put(documents.slice(from, from + 3_000));
    expect(whole.status()).toEqual(bit.status());
    for (const query of [
      "send weather 41",
      "alias 7",
      "天气",
      "get_userProfile_3",
      "cafe batch 30",
      "lst mial",
    ]) {
      for (const scopes of [[], ["s"]]) {
        const request = { query, limit: 50, filter: { scopes }, explain: true };
        expect(await whole.search(request)).toEqual(await bit.search(request));
      }
    }
    await Promise.all([whole.close(), bit.close()]);
  });

  test("stops when the index is closed", async () => {
    const index = createEmbeddedIndex();
    const put = index.put(documents);
    await index.close();
    await put;
    expect(index.status().documents).toBe(0);
  });
});

test("a closed index refuses with a problem", async () => {
  const index = createEmbeddedIndex();
  await index.close();
  await expect(index.put(tools)).rejects.toMatchObject({ code: "CLOSED" });
  await expect(index.search({ query: "x", limit: 1, filter })).rejects.toMatchObject({ code: "CLOSED" });
});

test("a domain's description does not drown its nouns", async () => {
  const names = ["task.create", "note.create", "goal.create", "task.list", "note.list", "goal.list"];
  const index = createEmbeddedIndex();
  await index.put(
    names.map((name) => ({
      ...tool(name, name, `${name.endsWith("create") ? "Creates" : "Lists"} it.`),
      domainText: "onto tasks, notes and goals: create a task, list the tasks",
    })),
  );
  const hits = await index.search({ query: "create a task", limit: 3, filter });
  expect(hits[0]?.id).toBe("task.create");
  expect(hits[1]?.score).toBeLessThan(0.9 * hits[0]!.score);
});

test("the first search after a put waits for vectors that are made at once", async () => {
  const index = createEmbeddedIndex({ embedder: createStaticEmbedder() });
  await index.put([
    tool("a", "list_pull_requests", "Lists pull requests."),
    tool("b", "send_mail", "Sends."),
  ]);
  const hits = await index.search({ query: "列出拉取请求", limit: 1, filter });
  expect(hits[0]?.id).toBe("a");
});

test("a long query about the bodies of skills is settled by words, since vectors stand for descriptions only", async () => {
  const skill = (id: string, description: string, content: string) => ({
    ...tool(id, id, description),
    kind: "skill" as const,
    content,
  });
  const near = ["review", "merge", "inspect", "branch", "commit", "rebase", "squash", "approve", "comment"];
  const documents = [
    skill(
      "house-rules",
      "Habits of this team.",
      "Before a changelog goes out, sort its lines by breaking change.",
    ),
    ...near.map((verb) =>
      skill(`${verb}-code`, `Helps to ${verb} changes of code before they go out.`, verb),
    ),
  ];
  const index = createEmbeddedIndex({ embedder: createStaticEmbedder() });
  await index.put(documents);
  await index.settled();
  const deciding = async (query: string) => {
    let by: string | undefined;
    const note = (noted: { readonly by: string }) => {
      by = noted.by;
    };
    const hits = await index.search({ query, limit: 5, filter, note });
    return [hits[0]?.id, by];
  };
  const long = "sort the changelog and its lines so that a breaking change stands first";
  expect(await deciding(long)).toEqual(["house-rules", "words"]);
  expect((await deciding("look over my code changes"))[1]).toBe("both");
});
