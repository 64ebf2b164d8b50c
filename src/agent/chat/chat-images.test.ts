import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DOT_PNG } from "../../../test/dot-png.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { keepImage, readClipboard } from "./chat-images.ts";

/** Programs of a system that stand in for those of a desktop. */
function desktop(programs: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "dot.png"), DOT_PNG);
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\ncd ${folder}\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { PATH: `${folder}:${process.env.PATH}` };
}

test.each([
  ["wl-paste", "linux", { WAYLAND_DISPLAY: "wayland-0" }, "image/png"],
  ["xclip", "linux", { DISPLAY: ":0" }, "image/png"],
] as const)("%s gives an image, or text", async (program, platform, display, type) => {
  const image = desktop({ [program]: `case "$*" in *${type}*) cat dot.png;; *) echo other;; esac` });
  expect(await readClipboard(platform, { ...image, ...display })).toEqual({ image: DOT_PNG });
  const text = desktop({ [program]: `case "$*" in *${type}*) exit 1;; *) printf 'a text';; esac` });
  expect(await readClipboard(platform, { ...text, ...display })).toEqual({ text: "a text" });
});

test("macOS gives an image by AppleScript, or text", async () => {
  const hex = DOT_PNG.toString("hex").toUpperCase();
  const env = desktop({ osascript: `echo '«data PNGf${hex}»'`, pbpaste: "printf text" });
  expect(await readClipboard("darwin", env)).toEqual({ image: DOT_PNG });
  const plain = desktop({ osascript: "exit 1", pbpaste: "printf text" });
  expect(await readClipboard("darwin", plain)).toEqual({ text: "text" });
});

test("without a desktop or its programs there is nothing", async () => {
  expect(await readClipboard("linux", { PATH: process.env.PATH })).toBeUndefined();
  expect(await readClipboard("linux", { PATH: temporaryFolder(), DISPLAY: ":0" })).toBeUndefined();
});

test("a kept image is a file of the owner alone, once for the same image", async () => {
  const folder = join(temporaryFolder(), "images");
  const kept = await keepImage(folder, DOT_PNG);
  await keepImage(folder, DOT_PNG);
  expect(readdirSync(folder)).toHaveLength(1);
  expect(readFileSync(kept!.path)).toEqual(DOT_PNG);
  expect(statSync(kept!.path).mode & 0o777).toBe(0o600);
  expect(kept!.about).toBe("image/png, 1 × 1, 1 KB");
  expect(await keepImage(folder, Buffer.from("no image"))).toBeUndefined();
});
