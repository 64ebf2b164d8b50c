// A library of 10,000 Markdown files: the first index, reopening with it, a change of one file, memory.
// `plain-scan` lists all files, reads them and parses their front matter. It checks, extracts and counts nothing.
// It takes turns with the reopening in the same run.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { createMarkdownSource } from "keyhole/sources";
import { parse } from "yaml";
import { mapLimit } from "../src/base/util/map-limit.ts";
import { buildLibraryIndex } from "../src/sources/markdown/library-index.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { heapMegabytes } from "./heap-megabytes.ts";
import { writeLibrary } from "./knowledge/write-library.ts";
import { percentile } from "./percentile.ts";

const FILES = 10_000;
const ROUNDS = 7;
const CHANGES = 5;
const READERS = 32;

export const benchmark: Benchmark = async ({ docs = FILES }) => {
  const directory = await mkdtemp(join(tmpdir(), "keyhole-knowledge-"));
  try {
    await writeLibrary(directory, docs);
    const row = (system: string, metric: string, value: number, unit: string): Row => ({
      bench: "knowledge",
      case: `${docs} files`,
      system,
      metric,
      value: Math.round(value * 100) / 100,
      unit,
    });
    const firstIndex = await timed(() => buildLibraryIndex(directory));
    // Modules loaded on first use do not count as the library's memory.
    await reopen(directory);
    const before = await heapMegabytes();
    const held = await reopen(directory);
    const memory = (await heapMegabytes()) - before;
    const entries = held.drafts.length;
    const times = { keyhole: [] as number[], plain: [] as number[] };
    // The first round warms the disk cache and the code.
    for (let round = 0; round <= ROUNDS; round++) {
      const plain = await timed(() => plainScan(directory));
      const keyhole = await timed(() => reopen(directory));
      if (round > 0) times.plain.push(plain);
      if (round > 0) times.keyhole.push(keyhole);
    }
    const plain = percentile(times.plain, 50);
    const keyhole = percentile(times.keyhole, 50);
    const { ready, change } = await measureChange(directory);
    return [
      row("plain-scan", "open", plain, "ms"),
      row("keyhole", "first_index", firstIndex, "ms"),
      row("keyhole", "open", keyhole, "ms"),
      row("keyhole", "ahead", plain / keyhole, "x"),
      row("keyhole", "entries", entries, "count"),
      row("keyhole", "heap", memory, "MB"),
      row("keyhole", "gateway_ready", ready, "ms"),
      row("keyhole", "change_to_answer", change, "ms"),
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

/** Collects garbage first, so that earlier work does not count. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  await heapMegabytes();
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** All drafts of the library, as a gateway reads them at the start. */
async function reopen(directory: string) {
  const source = createMarkdownSource("library", { directory, description: "Notes.", watch: false });
  for await (const content of source.contents(new AbortController().signal)) {
    if (source.diagnostics().index !== "used") throw new Error("The index was not used.");
    return content;
  }
  throw new Error("Nothing was yielded.");
}

async function plainScan(directory: string): Promise<unknown[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".md"));
  return mapLimit(files, READERS, async ({ parentPath, name }) => {
    const text = await readFile(join(parentPath, name), "utf8");
    const end = text.indexOf("\n---\n", 4);
    return { ...parse(text.slice(4, end)), body: text.slice(end + 5) };
  });
}

/** Time from saving a file to the first answer that has it, through a watching gateway. */
async function measureChange(directory: string): Promise<{ ready: number; change: number }> {
  const source = createMarkdownSource("library", { directory, description: "Notes." });
  const gateway = createGateway({ domains: [], sources: [source] });
  const ready = await timed(() => gateway.ready());
  await source.refresh();
  const route = "library://resources/agents/fresh";
  const folder = join(directory, "fragments/agents");
  await mkdir(folder, { recursive: true });
  const times: number[] = [];
  for (let count = 0; count < CHANGES; count++) {
    const text = `Fresh text number ${count}.`;
    const started = performance.now();
    await writeFile(join(folder, "fresh.md"), text);
    for (let seen = ""; seen !== text; ) {
      const [result] = (await gateway.get({ routes: [{ route }] })).results;
      seen = result?.ok ? String(result.data.content) : "";
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    times.push(performance.now() - started);
  }
  await gateway.close();
  return { ready, change: percentile(times, 50) };
}
