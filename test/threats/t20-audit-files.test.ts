import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { readAuditFolder } from "../../src/core/audit/audit-folder.ts";
import type { AuditStore } from "../../src/core/audit/audit-store.ts";
import type { FileAuditStoreOptions } from "../../src/core/audit/chain-writer.ts";
import { createFileAuditStore } from "../../src/core/audit/file-audit-store.ts";
import { allowed, auditFiles, badIn, recordsOf, verifyAll } from "../audit-kit.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const WRITER = resolve("test/threats/audit-writer.ts");

async function write(folder: string, names: readonly string[], options: Partial<FileAuditStoreOptions> = {}) {
  const store = createFileAuditStore({ path: folder, sync: "never", ...options });
  for (const name of names) {
    store.add(allowed(name));
    await store.flush();
  }
  await store.close();
}

async function filled(names = ["a", "b", "c", "d", "e"], options: Partial<FileAuditStoreOptions> = {}) {
  const folder = join(temporaryFolder(), "audit");
  await write(folder, names, options);
  return { folder, file: auditFiles(folder)[0]! };
}

async function namesIn(folder: string): Promise<string[]> {
  const records = await recordsOf(readAuditFolder(folder));
  return records.flatMap((record) => ("name" in record ? [record.name] : []));
}

/** Rewrites the lines of a file. */
function edit(file: string, change: (lines: string[]) => string[]): void {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  writeFileSync(file, `${change(lines).join("\n")}\n`);
}

test("T20: whichever byte of the log is flipped, the check names the first bad record", async () => {
  const { folder, file } = await filled(["a", "b"]);
  const bytes = readFileSync(file);
  let record = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1 << (at % 8);
    writeFileSync(file, changed);
    expect(await badIn(folder), `byte ${at}`).toMatchObject({ seq: record });
    if (bytes[at] === 10) record += 1;
  }
  writeFileSync(file, bytes);
  expect(await badIn(folder)).toBeUndefined();
});

test("T20: records that are deleted, moved, repeated, changed or cut off are found", async () => {
  const attacks: Record<string, [(lines: string[]) => string[], number]> = {
    "the first is deleted": [(lines) => lines.slice(1), 1],
    "one in the middle is deleted": [(lines) => lines.toSpliced(2, 1), 3],
    "two are swapped": [(lines) => lines.with(2, lines[3]!).with(3, lines[2]!), 3],
    "one is repeated": [(lines) => lines.toSpliced(3, 0, lines[2]!), 3],
    "a line is added": [(lines) => lines.toSpliced(4, 0, "{}"), 5],
    "one is rewritten": [(lines) => lines.with(3, lines[3]!.replace('"c"', '"x"')), 4],
    "the end is cut off": [(lines) => lines.slice(0, -2), 5],
    "everything is cut off": [() => [], 1],
  };
  const { folder, file } = await filled();
  const intact = readFileSync(file);
  for (const [name, [attack, seq]] of Object.entries(attacks)) {
    writeFileSync(file, intact);
    edit(file, attack);
    expect(await badIn(folder), name).toMatchObject({ seq });
  }
});

test("T20: an end that was cut off stays missing after the log goes on", async () => {
  const { folder, file } = await filled();
  edit(file, (lines) => lines.slice(0, -2));
  await write(folder, ["f"]);
  expect(await badIn(folder)).toMatchObject({ seq: 5, reason: expect.stringContaining("missing") });
});

test("T20: a deleted file is missing, whichever it is, and a deleted head too", async () => {
  for (const which of [0, 1, -1]) {
    const { folder } = await filled(["a", "b", "c", "d", "e", "f"], { maxFileBytes: 500 });
    const files = auditFiles(folder);
    expect(files.length).toBeGreaterThan(2);
    rmSync(files.at(which)!);
    expect(await badIn(folder), `file ${which}`).toMatchObject({
      reason: expect.stringContaining("missing"),
    });
  }
  const { folder } = await filled();
  rmSync(join(folder, "1.head"));
  expect(await badIn(folder)).toMatchObject({ reason: expect.stringContaining("head") });
  await write(folder, ["f"]);
  const [report] = await verifyAll(readAuditFolder(folder));
  expect(report?.notes).toEqual([expect.stringContaining("the head was missing")]);
});

test("T20: the chain goes on over files, and files beyond the limit are let go of openly", async () => {
  const names = Array.from({ length: 40 }, (_, at) => `name-${at}`);
  const { folder } = await filled(names, { maxFileBytes: 1_000, maxFiles: 3 });
  expect(auditFiles(folder)).toHaveLength(3);
  expect(await badIn(folder)).toBeUndefined();
  const kept = await namesIn(folder);
  expect(kept.at(-1)).toBe("name-39");
  expect(kept.length).toBeLessThan(20);
  await write(folder, ["later"], { maxFileBytes: 1_000, maxFiles: 3 });
  expect(await badIn(folder)).toBeUndefined();
  rmSync(auditFiles(folder)[0]!);
  expect(await badIn(folder)).toMatchObject({ reason: expect.stringContaining("missing") });
});

test("T20: a record that was torn by a crash is cut off, and the chain goes on", async () => {
  const { folder, file } = await filled(["a", "b"]);
  const size = statSync(file).size;
  // A crash between the record and the head leaves the head behind.
  const head = readFileSync(join(folder, "1.head"));
  await write(folder, ["c"]);
  for (let bytes = size + 1; bytes < statSync(file).size; bytes += 97) {
    const place = temporaryFolder();
    writeFileSync(join(place, "1-000000000001.jsonl"), readFileSync(file).subarray(0, bytes));
    writeFileSync(join(place, "1.head"), head);
    expect(await badIn(place), `${bytes} bytes`).toBeUndefined();
    await write(place, ["d"]);
    const [report] = await verifyAll(readAuditFolder(place));
    expect(report?.bad, `${bytes} bytes`).toBeUndefined();
    expect((await namesIn(place)).filter((name) => name !== "c")).toEqual(["a", "b", "d"]);
  }
});

test("T20: a file that a crash left empty does not break the chain", async () => {
  const { folder } = await filled(["a", "b", "c"], { maxFileBytes: 500, maxFiles: 2 });
  writeFileSync(join(folder, "1-000000000099.jsonl"), "");
  await write(folder, ["d"]);
  expect(await badIn(folder)).toBeUndefined();
});

test("T20: two stores on one folder write two intact chains, and the next goes on with the first", async () => {
  const folder = temporaryFolder();
  const stores = [1, 2].map(() => createFileAuditStore({ path: folder, sync: "never" }));
  for (let at = 0; at < 20; at += 1) {
    const store = stores[at % 2] as AuditStore;
    store.add(allowed(`${at}`));
    await store.flush();
  }
  for (const store of stores) await store.close();
  await write(folder, ["after"]);
  const reports = await verifyAll(readAuditFolder(folder));
  expect(reports.map(({ bad, last }) => [bad, last && "name" in last && last.name])).toEqual([
    [undefined, "after"],
    [undefined, "19"],
  ]);
  expect((await namesIn(folder)).toSorted()).toEqual([...Array(20).keys(), "after"].map(String).toSorted());
});

test("T20: a file that is deleted while the log is written is noticed, and later records are kept", async () => {
  const folder = temporaryFolder();
  const due: (() => void)[] = [];
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    after: (_: number, run: () => void) => {
      due.push(run);
      return () => {};
    },
  };
  const store = createFileAuditStore({ path: folder, sync: "never", clock });
  store.add(allowed("a"));
  await store.flush();
  rmSync(auditFiles(folder)[0]!);
  for (const run of due.splice(0)) run();
  store.add(allowed("b"));
  await store.close();
  expect(await namesIn(folder)).toEqual(["b"]);
  expect(await badIn(folder)).toMatchObject({ seq: 1, reason: expect.stringContaining("missing") });
});

test("T20: the log is for its owner alone, and a link in its place is not followed", async () => {
  const parent = temporaryFolder();
  const folder = join(parent, "audit");
  mkdirSync(folder, { mode: 0o777 });
  chmodSync(folder, 0o777);
  await write(folder, ["a"]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(auditFiles(folder)[0]!).mode & 0o777).toBe(0o600);
  const other = join(parent, "other");
  writeFileSync(other, "");
  const linked = join(parent, "linked");
  mkdirSync(linked);
  symlinkSync(other, join(linked, "1-000000000001.jsonl"));
  await expect(write(linked, ["a"])).rejects.toMatchObject({ code: "AUDIT_FAILED" });
  expect(readFileSync(other, "utf8")).toBe("");
});

test("T20: while the disk is full events wait, and the log goes on intact when there is room", async () => {
  const folder = temporaryFolder();
  const child = spawn("sh", ["-c", `ulimit -S -f 8; exec "$0" "$@"`, process.execPath, WRITER, folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const say = async (word: string): Promise<string> => {
    child.stdin.write(`${word}\n`);
    return String((await once(child.stdout, "data"))[0]).trim();
  };
  expect(await say("fill")).toMatch(/^AUDIT_FAILED after [1-9]\d* records$/);
  expect(await badIn(folder)).toBeUndefined();
  const lift = spawn("prlimit", ["--pid", String(child.pid), "--fsize=1000000000"]);
  await once(lift, "close");
  expect(await say("go on")).toBe("written");
  child.stdin.end();
  await once(child, "close");
  expect(await badIn(folder)).toBeUndefined();
  const names = await namesIn(folder);
  expect(names).toEqual(names.map((_, at) => `${at}`));
  expect(statSync(auditFiles(folder)[0]!).size).toBeGreaterThan(8 * 512);
});

test("T20: writers that are killed at any moment leave a record of everything they did, in intact chains", async () => {
  const folder = join(temporaryFolder(), "audit");
  const mark = join(temporaryFolder(), "acts");
  const kill = async (afterMs: number) => {
    const child = spawn(process.execPath, [WRITER, folder, mark], { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.write("act\n");
    await once(child.stdout, "data");
    await sleep(afterMs);
    child.kill("SIGKILL");
    await once(child, "close");
  };
  for (let round = 0; round < 6; round += 1) {
    await Promise.all([kill(Math.random() * 30), kill(Math.random() * 30)]);
    const chains = readAuditFolder(folder);
    expect((await verifyAll(chains)).flatMap(({ bad }) => bad ?? [])).toEqual([]);
    expect(chains.length).toBeLessThanOrEqual(2);
    const acts = readFileSync(mark, "utf8").split("\n").length - 1;
    const names = await namesIn(folder);
    expect(names.length).toBeGreaterThanOrEqual(acts);
    expect(names.length).toBeLessThanOrEqual(acts + 2 * (round + 1));
  }
});

test("T20: events beyond the bound of memory are dropped, and the log says how many", async () => {
  const folder = join(temporaryFolder(), "audit");
  writeFileSync(folder, "in the way");
  const store = createFileAuditStore({ path: folder, sync: "never" });
  for (let at = 0; at < 10_050; at += 1) store.add(allowed(`${at}`));
  await expect(store.flush()).rejects.toMatchObject({ code: "AUDIT_FAILED" });
  rmSync(folder);
  await store.flush();
  const [report] = await verifyAll(readAuditFolder(folder));
  expect(report?.bad).toBeUndefined();
  expect(report?.notes).toEqual([expect.stringContaining("50 events are missing")]);
  await store.close();
  const names = await namesIn(folder);
  expect([names[0], names.length]).toEqual(["50", 10_000]);
});

test("T20: a file that is cut to any length by a crash can be opened and goes on", async () => {
  const { file } = await filled(["a", "b", "c"]);
  const bytes = readFileSync(file);
  for (let length = 0; length <= bytes.length; length += 61) {
    const place = temporaryFolder();
    const copy = join(place, "1-000000000001.jsonl");
    writeFileSync(copy, bytes);
    truncateSync(copy, length);
    await write(place, ["after"]);
    expect((await namesIn(place)).at(-1)).toBe("after");
    expect(await badIn(place), `${length} bytes`).toBeUndefined();
  }
});
