import fc from "fast-check";
import { expect, test } from "vitest";
import { EMPTY, readAuditLine, toAuditLine } from "./audit-line.ts";
import type { AuditEvent } from "./audit-store.ts";

const event = (name: string): AuditEvent => ({
  kind: "allowed",
  principal: "ann",
  what: "server",
  name,
  digest: "d",
});

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

test("a line is read back as it was written", () => {
  const { text, head } = toAuditLine(EMPTY, event("files"), 0);
  expect(readAuditLine(text)).toEqual({
    ...event("files"),
    hash: head.hash,
    seq: 1,
    prev: EMPTY.hash,
    at: "1970-01-01T00:00:00.000Z",
  });
});

test("any text stays on one visible line and is read back", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 0x10ffff })), (codes) => {
      const name = String.fromCodePoint(...codes);
      const { text } = toAuditLine(EMPTY, event(name), 0);
      expect(HIDDEN.test(text)).toBe(false);
      const record = readAuditLine(text);
      expect(record && "name" in record && record.name).toBe(name);
    }),
  );
});

test("no byte of a line can change unnoticed", () => {
  const bytes = Buffer.from(toAuditLine(EMPTY, event("Zürich"), 0).text);
  for (let at = 0; at < bytes.length; at += 1) {
    for (const bit of [1, 0x20, 0x80]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= bit;
      expect(readAuditLine(changed.toString())).toBeUndefined();
    }
  }
});
