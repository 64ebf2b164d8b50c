import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFileAuditStore, createGateway } from "keyhole";
import { expect, onTestFinished, test, vi } from "vitest";
import { readAuditFolder } from "../../src/core/audit/audit-folder.ts";
import { EMPTY, toAuditLine } from "../../src/core/audit/audit-store.ts";
import { logs } from "../../src/program/commands/logs.ts";
import { auditFiles, recordsOf } from "../audit-kit.ts";
import { clerk, createShop } from "../shop.ts";
import { temporaryFolder } from "../temporary-folder.ts";

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/** Runs `keyhole logs` in this process. */
async function audit(folder: string, ...args: string[]): Promise<Ended> {
  const told = { log: [] as string[], error: [] as string[] };
  const spies = (["log", "error"] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((line) => void told[name].push(`${line}\n`)),
  );
  const before = process.exitCode;
  process.exitCode = 0;
  try {
    await logs.start([...args, "--folder", folder]);
    return { code: Number(process.exitCode), out: told.log.join(""), errors: told.error.join("") };
  } finally {
    process.exitCode = before;
    for (const spy of spies) spy.mockRestore();
  }
}

/** A log with three calls and a refused one. */
async function shopLog(): Promise<string> {
  const path = temporaryFolder();
  const store = createFileAuditStore({ path });
  const { domains } = createShop();
  const gateway = createGateway({ domains, principal: clerk, audit: { store } });
  onTestFinished(() => gateway.close());
  for (const customer of ["a", "b", "c", 4]) {
    await gateway.exec({ op: "shop.order.create", args: { customer } });
  }
  await store.close();
  return path;
}

test("T20: keyhole logs verify names the first bad record and its file", async () => {
  const folder = await shopLog();
  const [{ hash = "" } = {}] = await recordsOf(readAuditFolder(folder));
  const intact = await audit(folder, "verify");
  expect(intact.out).toMatch(/^chain 1: 8 records are intact, \S+Z to \S+Z\. Head: 8 [0-9a-f]{64}\n$/);
  expect(intact.code).toBe(0);
  expect(await audit(folder, "verify", "--contains", hash)).toMatchObject({ code: 0 });
  expect(await audit(folder, "verify", "--contains", "0".repeat(16))).toMatchObject({ code: 1 });

  const [file = ""] = auditFiles(folder);
  writeFileSync(file, readFileSync(file, "utf8").replace("string(1)", "string(9)"));
  expect(await audit(folder, "verify")).toMatchObject({
    code: 1,
    out: "chain 1: 1-000000000001.jsonl:2: record 2 is not what was written. 1 record before it is intact.\n",
  });
  expect(await audit(folder, "calls", "--all")).toMatchObject({
    code: 1,
    errors: expect.stringContaining("1-000000000001.jsonl:2 is damaged"),
  });
});

test("T20: keyhole logs calls shows the newest records, one line each", async () => {
  const { out } = await audit(await shopLog(), "calls", "-n", "3");
  const facts = out.split("\n").map((line) => line.split(/ {2,}/).slice(1, -1));
  expect(facts.slice(0, -1)).toEqual([
    ["#6", "call-started", "clerk", "shop.order.create", "writes, run", "{customer: string(1)}"],
    ["#7", "call-ended", "clerk", "shop.order.create", expect.stringMatching(/^ok in \d+ ms$/), "object(2)"],
    [
      "#8",
      "call-refused",
      "clerk",
      "shop.order.create",
      "writes, refused: INVALID_PARAMS",
      "{customer: number}",
    ],
  ]);
});

test("T20: keyhole logs calls --all selects by time and caller, and gives records as they are stored", async () => {
  const folder = await shopLog();
  const exported = async (...args: string[]) => (await audit(folder, "calls", "--all", ...args)).out;
  expect(await exported("--json")).toBe(readFileSync(auditFiles(folder)[0]!, "utf8"));
  expect((await exported("--json", "--agent", "clerk")).match(/\n/g)).toHaveLength(7);
  expect(await exported("--agent", "nobody")).toBe("");
  expect((await exported("--since", "1h")).match(/\n/g)).toHaveLength(8);
  expect(await exported("--since", "2100-01-01")).toBe("");
  await expect(exported("--since", "soon")).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("T20: whatever somebody puts into the log, a terminal shows it as plain text", async () => {
  const evil = "\u001b]52;c;ZXZpbA==\u0007\u202e\u009b2J\u200b";
  const folder = join(temporaryFolder(), "audit");
  mkdirSync(folder);
  const who = { actor: evil, principal: evil };
  const grant = { kind: "allowed", ...who, what: "server", name: evil, digest: evil } as const;
  const first = toAuditLine(EMPTY, grant, 0);
  const second = toAuditLine(first.head, { kind: evil, args: 7 } as never, 0);
  writeFileSync(join(folder, "1-000000000001.jsonl"), `${first.text}\n${second.text}\n${evil}\n`);
  for (const args of [["calls"], ["calls", "--all"], ["calls", "--all", "--json"], ["verify"]]) {
    const { out, errors } = await audit(folder, ...args);
    expect(`${out}${errors}`.replaceAll("\n", "")).not.toMatch(/[\p{C}\p{Bidi_Control}]/u);
    expect(out.length).toBeGreaterThan(20);
  }
});
