import { expect, test } from "vitest";
import { DOT_PNG } from "../../../test/dot-png.ts";
import { describeImage, imageTypeOf } from "./file-content.ts";

const GIF = Buffer.from([...Buffer.from("GIF89a"), 0x40, 0x01, 0xf0, 0x00, 0, 0]);
// An application segment of 4 bytes, then the start of a frame of 300 × 200.
const JPEG = Buffer.from([
  0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 0, 200, 1, 0x2c, 3, 0, 0,
]);
const WEBP = Buffer.from("RIFF....WEBPVP8 ", "latin1");

test.each([
  [DOT_PNG, "image/png", "image/png, 1 × 1, 1 KB"],
  [GIF, "image/gif", "image/gif, 320 × 240, 1 KB"],
  [JPEG, "image/jpeg", "image/jpeg, 300 × 200, 1 KB"],
  [WEBP, "image/webp", "image/webp, 1 KB"],
])("an image is recognised and described", (bytes, type, about) => {
  expect(imageTypeOf(bytes)).toBe(type);
  expect(describeImage(type, bytes)).toBe(about);
});

test("cut and hostile bytes throw nothing", () => {
  for (const bytes of [DOT_PNG, GIF, JPEG, Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0])]) {
    for (let length = 0; length < bytes.length; length += 1)
      expect(describeImage("image/png", bytes.subarray(0, length))).toContain("image/png");
  }
  expect(imageTypeOf(Buffer.from("plain text"))).toBeUndefined();
});
