import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type AuditEvent, EMPTY, readAuditLine, toAuditLine } from "./audit-store.ts";

const event = (name: string): AuditEvent => ({
  kind: "allowed",
  actor: "ann",
  principal: "ann",
  what: "server",
  name,
  digest: "d",
});

/** Unassigned characters are text. */
const HIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u;

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

test("every hidden character of a text is spelt out, not only the first", () => {
  const { text } = toAuditLine(EMPTY, event("a\u202eb\u2028c\u200bd\u{e0041}"), 0);
  expect(text).toContain(String.raw`"name":"a\u202eb\u2028c\u200bd\udb40\udc41"`);
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

test("a line continues the chain of its head", () => {
  const first = toAuditLine(EMPTY, event("a"), 0);
  const second = toAuditLine(first.head, event("b"), 1_000);
  expect(EMPTY).toEqual({ seq: 0, hash: "0".repeat(64) });
  expect(second.head.seq).toBe(2);
  expect(readAuditLine(second.text)).toMatchObject({ seq: 2, prev: first.head.hash, hash: second.head.hash });
});

test("text with a right hash that is no record is not read", () => {
  const sealed = (rest: string) => `{"hash":"${hash("sha256", rest)}",${rest}`;
  const prev = EMPTY.hash;
  expect(readAuditLine(sealed(`"seq":1,"prev":"${prev}"}`))).toMatchObject({ seq: 1, prev });
  for (const rest of [
    `"seq":1,"prev":"${prev}",}`,
    `"seq":"1","prev":"${prev}"}`,
    `"seq":1.5,"prev":"${prev}"}`,
    '"seq":1}',
    '"seq":1,"prev":1}',
  ]) {
    expect(readAuditLine(sealed(rest))).toBeUndefined();
  }
  const { text } = toAuditLine(EMPTY, event("a"), 0);
  for (const odd of [` ${text}`, `${text} `, `${text}\n${text}`, text.slice(0, -1), ""]) {
    expect(readAuditLine(odd)).toBeUndefined();
  }
});
