import { describe, expect, test } from "vitest";
import {
  type AuditChain,
  type AuditEvent,
  type AuditHead,
  type AuditRecord,
  EMPTY,
  toAuditLine,
} from "./audit-store.ts";
import { verifyChain } from "./verify-chain.ts";

const allowed = (name: string): AuditEvent => ({
  kind: "allowed",
  actor: "ann",
  principal: "ann",
  what: "server",
  name,
  digest: "d",
});

const NAMES = ["a", "b", "c", "d"];

/** Lines of a chain that begins after `from`, and its head. */
function written(events: readonly AuditEvent[], from: AuditHead = EMPTY) {
  let head = from;
  const texts = events.map((event) => {
    const line = toAuditLine(head, event, 0);
    head = line.head;
    return line.text;
  });
  return { texts, head };
}

function chainOf(texts: readonly string[], head: AuditHead | undefined): AuditChain {
  return {
    name: "log",
    head,
    async *lines() {
      for (const [at, text] of texts.entries()) yield { text, place: `file:${at + 1}` };
    },
  };
}

describe("an intact chain", () => {
  const { texts, head } = written(NAMES.map(allowed));

  test("is reported with its first and last record, and each is passed on in order", async () => {
    const seen: AuditRecord[] = [];
    const report = await verifyChain(chainOf(texts, head), (record) => seen.push(record));
    expect(report).toEqual({ name: "log", records: 4, first: seen[0], last: seen[3], notes: [] });
    expect(seen.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  test("of no records has no bad one, with and without a head", async () => {
    for (const none of [undefined, EMPTY]) {
      expect(await verifyChain(chainOf([], none))).toEqual({ name: "log", records: 0, notes: [] });
    }
  });

  test("may begin later if the log says from where it is kept", async () => {
    const opened: AuditEvent = { kind: "log-opened", pid: 1, keptFrom: 3 };
    const kept = written([allowed("c"), opened], { seq: 2, hash: "f".repeat(64) });
    const report = await verifyChain(chainOf(kept.texts, kept.head));
    expect(report).toMatchObject({ records: 2, notes: [] });
    expect(report).not.toHaveProperty("bad");
  });
});

describe("the first bad record", () => {
  const { texts, head } = written(NAMES.map(allowed));
  const other = written(["a", "x", "c", "d"].map(allowed));
  const [a = "", b = "", c = "", d = ""] = texts;
  const foreign = written([allowed("a")], { seq: 0, hash: "e".repeat(64) });

  test.each<[string, readonly string[], AuditHead | undefined, object]>([
    [
      "that was changed",
      [a, b.replace("ann", "bob"), c, d],
      head,
      { place: "file:2", seq: 2, reason: "is not what was written" },
    ],
    ["that is no record", ["", a], head, { place: "file:1", seq: 1, reason: "is not what was written" }],
    [
      "that was taken out",
      [a, c, d],
      head,
      { place: "file:2", seq: 2, reason: "is missing: record 3 follows" },
    ],
    ["that was repeated", [a, b, b, c], head, { place: "file:3", seq: 2, reason: "is out of order" }],
    [
      "that follows another",
      [a, b, other.texts[2] ?? "", d],
      head,
      { place: "file:3", seq: 3, reason: "does not follow the record before it" },
    ],
    [
      "that does not begin a chain",
      foreign.texts,
      foreign.head,
      { place: "file:1", seq: 1, reason: "does not begin a chain" },
    ],
    [
      "that the head does not name",
      other.texts,
      head,
      { place: "file:4", seq: 4, reason: "is not the record that the head names" },
    ],
    [
      "that was cut off",
      [a, b],
      head,
      { place: "file:2", seq: 3, reason: "is missing: the log was cut off after it had 4 records" },
    ],
    [
      "of a log that was emptied",
      [],
      head,
      { place: "log", seq: 1, reason: "is missing: the log was cut off after it had 4 records" },
    ],
    [
      "of a log whose beginning was taken away",
      [c, d],
      head,
      { place: "log", seq: 1, reason: "is missing, and so are all up to 2" },
    ],
    [
      "of a log without a head",
      texts,
      undefined,
      { place: "log", reason: "has no readable head, so records may be cut off" },
    ],
  ])("%s is named", async (_, lines, named, bad) => {
    expect((await verifyChain(chainOf(lines, named))).bad).toEqual(bad);
  });

  test("ends the check: records before it count, and none after it is passed on", async () => {
    const seen: AuditRecord[] = [];
    const report = await verifyChain(chainOf([a, "x", c, d], head), (record) => seen.push(record));
    expect(report).toMatchObject({ records: 1, first: { seq: 1 }, last: { seq: 1 } });
    expect(seen).toHaveLength(1);
  });

  test("a head that is behind its records is no fault", async () => {
    expect(await verifyChain(chainOf(texts, { seq: 1, hash: JSON.parse(a).hash }))).not.toHaveProperty("bad");
  });
});

test("gaps that the log admits are noted with their place", async () => {
  const events: AuditEvent[] = [
    { kind: "log-opened", pid: 1, keptFrom: 1 },
    { kind: "log-opened", pid: 2, keptFrom: 1, torn: 12 },
    { kind: "log-opened", pid: 3, keptFrom: 1, dropped: 3, headless: true },
  ];
  const { texts, head } = written(events);
  const { notes, bad } = await verifyChain(chainOf(texts, head));
  expect(bad).toBeUndefined();
  expect(notes).toEqual([
    "file:2, record 2: 12 bytes of an unfinished record were cut off after a crash",
    "file:3, record 3: 3 events are missing, because the log could not be written",
    "file:3, record 3: the head was missing, so records before it may be cut off",
  ]);
});
