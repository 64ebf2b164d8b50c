import fc from "fast-check";
import { expect, test } from "vitest";
import { createSealer } from "./sealed-state.ts";

const open = { secret: "a secret that processes share", ttlMs: 1_000 };

test("opens sealed state for its owner, in every process with the secret", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (payload, who) => {
      const sealed = createSealer(open).seal(payload, who);
      expect(createSealer(open).open(sealed, who)).toEqual(JSON.parse(JSON.stringify(payload)));
    }),
  );
});

test("refuses any change", () => {
  const sealer = createSealer<{ call: string }>(open);
  const sealed = sealer.seal({ call: "hash" }, "ann");
  fc.assert(
    fc.property(fc.nat(sealed.length - 1), fc.constantFrom(..."ABab01-_=. \n"), (at, character) => {
      const changed = sealed.slice(0, at) + character + sealed.slice(at + 1);
      if (changed !== sealed) expect(sealer.open(changed, "ann")).toBeUndefined();
    }),
    { numRuns: 500 },
  );
  fc.assert(fc.property(fc.string(), (text) => sealer.open(text, "ann") === undefined));
  for (const text of [`${sealed}=`, `${sealed}A`, sealed.slice(0, -1), `${sealed}${sealed}`, "v1.", ""]) {
    expect(sealer.open(text, "ann")).toBeUndefined();
  }
});

test("refuses another owner, another secret and expired state", () => {
  let time = 0;
  const sealer = createSealer<string>({ ...open, now: () => time });
  const sealed = sealer.seal("payload", "ann");
  expect(sealed).not.toContain(Buffer.from("payload").toString("base64url").slice(0, 6));
  expect(sealer.open(sealed, "bob")).toBeUndefined();
  expect(createSealer({ secret: "another", ttlMs: 1_000 }).open(sealed, "ann")).toBeUndefined();
  time = 999;
  expect(sealer.open(sealed, "ann")).toBe("payload");
  time = 1_000;
  expect(sealer.open(sealed, "ann")).toBeUndefined();
});

test("takes state of up to 64 KiB and refuses longer state unread", () => {
  const sealer = createSealer<string>(open);
  // 12 + 16 bytes of marks and the JSON around the payload come before Base64.
  const fits = sealer.seal("x".repeat(49_050), "ann");
  const tooLong = sealer.seal("x".repeat(49_200), "ann");
  expect([fits.length <= 65_536, tooLong.length > 65_536]).toEqual([true, true]);
  expect(sealer.open(fits, "ann")).toHaveLength(49_050);
  expect(sealer.open(tooLong, "ann")).toBeUndefined();
});

test("never seals the same payload to the same text, and names its version", () => {
  const sealer = createSealer<string>(open);
  expect(sealer.seal("payload", "ann")).not.toBe(sealer.seal("payload", "ann"));
  expect(sealer.seal("payload", "ann")).toMatch(/^v1\.[\w-]+$/);
});

test("opens state that was sealed before the program was started again", () => {
  const sealed =
    "v1.VrPqiWDITw3HfleZSrGpbiUY5D6Isp67Ux_XRdKfV72twEEjrwGhB6cakxkpdMy0rQU1RakjT_MgiY7y-kQdwXQ9blwAeQ";
  expect(createSealer({ ...open, now: () => 0 }).open(sealed, "ann")).toEqual({ call: "hash" });
});
