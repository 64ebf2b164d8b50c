import { expect, it } from "vitest";
import { makeKernel } from "../scripts/make-kernel.ts";
import { KERNEL_BYTES } from "../src/search/vectors/kernel-bytes.ts";

it("carries the kernel that scripts/make-kernel.ts makes", () => {
  expect(KERNEL_BYTES).toBe(Buffer.from(makeKernel()).toString("base64"));
});
