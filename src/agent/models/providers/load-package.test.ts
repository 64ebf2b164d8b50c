import { expect, test } from "vitest";
import { loadPackage, runCommand } from "./define-provider.ts";

const missing = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from x.ts`), {
    code: "ERR_MODULE_NOT_FOUND",
  });

test("a missing package is named, with how to install it", async () => {
  const loading = loadPackage("@ai-sdk/openai", "The provider openai", () =>
    Promise.reject(missing("@ai-sdk/openai")),
  );
  await expect(loading).rejects.toMatchObject({
    code: "PACKAGE_MISSING",
    next: expect.stringContaining("npm install @ai-sdk/openai"),
  });
});

test("a package with a missing dependency is not called missing itself", async () => {
  const error = missing("its-dependency");
  await expect(loadPackage("@ai-sdk/openai", "x", () => Promise.reject(error))).rejects.toBe(error);
});

test("running a program returns its output, or undefined if it fails", async () => {
  expect(await runCommand(process.execPath, ["-e", "console.log(process.argv[1])", "$HOME;x"])).toBe(
    "$HOME;x\n",
  );
  expect(await runCommand(process.execPath, ["-e", "process.exit(1)"])).toBeUndefined();
  expect(await runCommand("no-such-program-anywhere", [])).toBeUndefined();
});
