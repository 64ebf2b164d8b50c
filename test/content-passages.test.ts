import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, defineDomain } from "keyhole";
import { createLocalSource, createMarkdownFormat, createTextFormat } from "keyhole/sources";
import { expect, onTestFinished } from "vitest";
import { toSearchDocument } from "../src/operations/to-search-document.ts";
import { runPipeline } from "../src/sources/content/run-pipeline.ts";
import { verifies } from "./requirements.ts";
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
    const routes = [{ route: hits[0]!.route }, { route: "docs://resources/files/manual-md" }];
    const { results } = await gateway.get({ routes });
    const [passage, whole] = results.map((result) => (result.success ? result.data.content : result.error));
    expect(String(passage)).toContain("spare gasket");
    expect(String(passage).length).toBeLessThanOrEqual(1_200);
    expect(JSON.stringify(whole)).toContain("remark 0");
  },
);

verifies("content:passage", "passages that are put together are the document", async () => {
  const drafts = await runPipeline(pipeline(), "docs");
  const passages = drafts.filter(({ metadata }) => metadata.resource_type === "passage");
  expect(passages.length).toBeGreaterThan(4);
  const contents = await Promise.all(passages.map(loaded));
  expect(contents.join("")).toBe(manual);
  const parent = drafts.find(({ route }) => route === "docs://resources/files/manual-md");
  expect(await loaded(parent!)).toBe(manual);
});

verifies("content:facts", "documents carry type, segment and quality to the index", async () => {
  const [draft] = await runPipeline(pipeline(), "docs");
  const entry = { ...draft!, op: "", lane: "read", route: draft!.route ?? "" } as const;
  const document = toSearchDocument(entry as Parameters<typeof toSearchDocument>[0], undefined);
  expect(document.facts).toEqual({ resource_type: "document", path_segment: "files", quality_score: 50 });
});

function pipeline() {
  const root = temporaryFolder();
  mkdirSync(join(root, "data"));
  writeFileSync(join(root, "manual.md"), manual);
  writeFileSync(join(root, "data/prices.json"), '{"pen": 1}');
  const source = createLocalSource({ root, include: ["**/*.md", "**/*.json"] });
  return { source, formats: [createMarkdownFormat(), createTextFormat()], basePath: "files" };
}

function openGateway() {
  const docs = defineDomain({ name: "docs", description: "Manuals", extractors: [pipeline()] });
  const gateway = createGateway({ domains: [docs] });
  onTestFinished(() => gateway.close());
  return gateway;
}

async function loaded(draft: Awaited<ReturnType<typeof runPipeline>>[number]): Promise<unknown> {
  return draft.kind === "resource" ? draft.load({}, Object.create(null)) : undefined;
}
