import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, defineDomain } from "keyhole";
import { expect, onTestFinished } from "vitest";
import { createEmbeddedIndex } from "../src/search/embedded-index.ts";
import type { SearchDocument, SearchIndex } from "../src/search/port/search-index.ts";
import { createTextFormat } from "../src/sources/content/formats/content-formats.ts";
import { createMarkdownFormat } from "../src/sources/content/formats/markdown-format.ts";
import { createLocalSource } from "../src/sources/content/sources/local-source.ts";
import { verifies } from "./claims.ts";
import { nodesOf } from "./content-kit.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const filler = (topic: string) =>
  Array.from({ length: 120 }, (_, index) => `About ${topic} there is a remark ${index}.`).join(" ");
const manual = [
  "# Manual",
  filler("pumps"),
  "The spare gasket is kept in the blue cabinet.",
  filler("valves"),
].join("\n\n");

verifies(
  "content:passage",
  "a long file is found by its passage, and read as a whole by its parent",
  async () => {
    const gateway = openGateway();
    const { hits } = await gateway.ask({ query: "spare gasket cabinet" });
    expect(hits[0]?.route).toMatch(/^docs:\/\/resources\/files\/manual-md\/passages\/\d+$/);
    expect(hits.map(({ route }) => route)).not.toContain("docs://resources/files/manual-md");
    const routes = [{ route: hits[0]!.route }, { route: "docs://resources/files/manual-md" }];
    const { results } = await gateway.get({ routes });
    const [passage, whole] = results.map((result) => (result.ok ? result.data.content : result.error));
    expect(String(passage)).toContain("spare gasket");
    expect(String(passage).length).toBeLessThanOrEqual(1_200);
    expect(JSON.stringify(whole)).toContain("remark 0");
  },
);

verifies("content:passage", "joined passages equal the document", async () => {
  const { source, formats, basePath } = pipeline();
  const nodes = await nodesOf(source, formats, basePath);
  const passages = nodes.filter(({ metadata }) => metadata?.resource_type === "passage");
  expect(passages.length).toBeGreaterThan(4);
  expect(passages.map(({ content }) => content).join("")).toBe(manual);
  expect(nodes.find(({ path }) => path === "files/manual-md")?.content).toBe(manual);
});

verifies("content:facts", "documents carry type, segment and quality to the index", async () => {
  const seen: SearchDocument[] = [];
  const embedded = createEmbeddedIndex();
  const put: SearchIndex["put"] = async (documents) => {
    seen.push(...documents);
    await embedded.put(documents);
  };
  await openGateway({ ...embedded, put }).ask({ query: "pen" });
  const document = seen.find(({ id }) => id === "docs://resources/files/data/prices-json");
  expect(document?.facts).toMatchObject({
    resource_type: "document",
    path_segment: "files",
    quality_score: 50,
  });
});

function pipeline() {
  const root = temporaryFolder();
  mkdirSync(join(root, "data"));
  writeFileSync(join(root, "manual.md"), manual);
  writeFileSync(join(root, "data/prices.json"), '{"pen": 1}');
  const source = createLocalSource({ root, include: ["**/*.md", "**/*.json"] });
  return { source, formats: [createMarkdownFormat(), createTextFormat()], basePath: "files" };
}

function openGateway(index: SearchIndex = createEmbeddedIndex()) {
  const docs = defineDomain({ name: "docs", description: "Manuals", extractors: [pipeline()] });
  const gateway = createGateway({ domains: [docs], index });
  onTestFinished(() => gateway.close());
  return gateway;
}
