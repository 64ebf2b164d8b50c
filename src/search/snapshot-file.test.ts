import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSections, toSections } from "./snapshot-file.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-sections-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** More than two blocks, so that the last one is not whole. */
const LARGE = 2 ** 24 + 12_345;
const parts = {
  large: Uint8Array.from({ length: LARGE }, (_, at) => at * 7),
  words: Uint32Array.from({ length: 100 }, (_, at) => at * 1_000_003),
  empty: new Uint16Array(0),
  floats: Float32Array.of(0.5, -1),
};

test("sections come back as they were, one of them where the reader wants it", async () => {
  const path = join(folder, "whole");
  await writeFile(path, toSections({ note: "ä" }, parts));
  const own = new Uint8Array(LARGE);
  const read = await readSections<{ note: string }>(path, (name) => (name === "large" ? own : undefined));
  if (!read.ok) throw new Error(read.reason);
  const { header, parts: found } = read.value;
  expect(header).toEqual({ note: "ä" });
  expect(Buffer.compare(own, parts.large)).toBe(0);
  expect(found.large!.buffer).toBe(own.buffer);
  expect(found).toEqual(parts);
});

test("damage is found in every block, whichever is read first", async () => {
  const path = join(folder, "damaged");
  await writeFile(path, toSections({}, parts));
  const whole = await readFile(path);
  const start = whole.length - LARGE - 400 - 8;
  for (const at of [start, start + 2 ** 23 - 1, start + 2 ** 23, start + LARGE - 1, whole.length - 1]) {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1;
    await writeFile(path, bytes);
    expect(await readSections(path, () => undefined)).toEqual({ ok: false, reason: "its checksum is wrong" });
  }
  for (const changed of [whole.subarray(0, -1), Buffer.concat([whole, whole.subarray(0, 1)])]) {
    await writeFile(path, changed);
    expect(await readSections(path, () => undefined)).toEqual({ ok: false, reason: "its size is wrong" });
  }
});

test("a process that is killed while it saves leaves the earlier snapshot or the new one", async () => {
  const path = join(folder, "killed");
  const index = JSON.stringify(new URL("./embedded-index.ts", import.meta.url).href);
  const program = `
    const { createEmbeddedIndex, openEmbeddedIndex } = await import(${index});
    const index = createEmbeddedIndex();
    await index.put(Array.from({ length: 3_000 }, (_, at) => ({
      id: "d" + at, kind: "tool", domain: "d", visibility: "listed", scopes: [], tags: [], name: "get_weather_" + at,
      aliases: [], description: "weather", parameters: "", domainText: "", content: "",
    })));
    await index.save(${JSON.stringify(path)}, "first");
    console.log("saved");
    for (;;) await index.save(${JSON.stringify(path)}, "next");`;
  const { openEmbeddedIndex } = await import("./embedded-index.ts");
  for (const delay of [0, 7, 23]) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill("SIGKILL");
    await once(child, "exit");
    const opened = await openEmbeddedIndex(path);
    if (!opened.ok) throw new Error(opened.reason);
    expect(opened.value.status().documents).toBe(3_000);
    await opened.value.close();
  }
}, 120_000);
