import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createDiskResultStore } from "./disk-result-store.ts";
import { mintResultHandle } from "./result-store.ts";

test("keeps results on disk, for their owner only, without secrets, until they are cleared", async () => {
  const path = temporaryFolder();
  const store = createDiskResultStore({ path, secrets: ["hunter-two"] });
  const handle = mintResultHandle();
  await store.put(handle, { note: "the word is hunter-two", rows: [1, 2] }, "ada");
  const [folder = ""] = readdirSync(path);
  const [file = ""] = readdirSync(join(path, folder));
  expect(readFileSync(join(path, folder, file), "utf8")).not.toContain("hunter-two");
  expect(statSync(join(path, folder, file)).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, folder)).mode & 0o777).toBe(0o700);
  expect(await store.get(handle, "ada")).toEqual({ note: "the word is [secret]", rows: [1, 2] });
  expect(await store.has(handle, "bob")).toBe(false);
  await expect(store.get(handle, "bob")).rejects.toThrow("not known");
  await expect(store.get("result://../../etc/passwd", "ada")).rejects.toThrow("not known");
  await expect(store.get(mintResultHandle(), "ada")).rejects.toThrow("not known");
  store.clear();
  expect(readdirSync(path)).toEqual([]);
  await expect(store.get(handle, "ada")).rejects.toThrow("not known");
  store.clear();
});

test("deletes the least recently used results", async () => {
  const path = temporaryFolder();
  const store = createDiskResultStore({ path, maxChars: 200 });
  const [first, second] = [mintResultHandle(), mintResultHandle()];
  await store.put(first, "a".repeat(60), "ada");
  await store.put(second, "b".repeat(60), "ada");
  expect(await store.has(first, "ada")).toBe(false);
  expect(await store.get(second, "ada")).toBe("b".repeat(60));
  store.clear();
  await expect(store.get(second, "ada")).rejects.toThrow("not known");
  store.clear();
});

test("deletes files of ended processes, and keeps those of running ones", () => {
  const path = temporaryFolder();
  const { pid } = spawnSync(process.execPath, ["-e", "0"]);
  mkdirSync(join(path, `${pid}-gone`));
  mkdirSync(join(path, `${process.ppid}-there`));
  createDiskResultStore({ path });
  expect(existsSync(join(path, `${pid}-gone`))).toBe(false);
  expect(existsSync(join(path, `${process.ppid}-there`))).toBe(true);
});

test("a gateway keeps large results there", async () => {
  const path = temporaryFolder();
  const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `row ${id}` }));
  const list = defineTool({
    name: "list",
    op: "data.row.list",
    description: "All rows",
    lane: "read",
    execute: async () => rows,
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "data", description: "Rows", tools: [list] })],
    results: createDiskResultStore({ path }),
  });
  onTestFinished(() => gateway.close());
  const { results } = await gateway.get({ routes: [{ route: "data.row.list" }] });
  const [handle] = /result:\/\/[\w-]+/.exec(JSON.stringify(results)) ?? [""];
  const read = await gateway.get({ routes: [{ route: handle, params: { path: "/4999" } }] });
  expect(read.results[0]).toMatchObject({ ok: true, data: { content: rows[4_999] } });
  expect(readdirSync(path)).toHaveLength(1);
});
