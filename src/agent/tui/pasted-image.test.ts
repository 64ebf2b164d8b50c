import { homedir } from "node:os";
import { expect, test } from "vitest";
import { pastedImage } from "./input-box.ts";

test.each([
  ["/tmp/shot.png", "@/tmp/shot.png"],
  ["  './my shot.JPG'  ", '@"./my shot.JPG"'],
  ["/tmp/my\\ shot.webp", '@"/tmp/my shot.webp"'],
  ["file:///tmp/my%20shot.gif", '@"/tmp/my shot.gif"'],
  ["~/shot.jpeg", `@${homedir()}/shot.jpeg`],
])("the pasted path %s mentions the image", (pasted, mention) => {
  expect(pastedImage(pasted)).toBe(mention);
});

test.each(["see /tmp/shot.png", "shot.png", "/tmp/notes.md", "/tmp/a.png\n/tmp/b.png", "file://%zz.png", ""])(
  "%s stays text",
  (pasted) => {
    expect(pastedImage(pasted)).toBeUndefined();
  },
);
