import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { chaos, gatewayOf } from "../upstream-kit.ts";

/** Starts a gateway once, and says where its listing came from. */
async function start(cacheDirectory: string): Promise<{ fromCache: boolean; starts: number }> {
  const source = chaos("bad", { cacheDirectory });
  const gateway = gatewayOf([source]);
  await gateway.ready();
  const { fromCache, starts } = source.diagnostics();
  await gateway.close();
  return { fromCache, starts };
}

test("T8: a kept listing that others may have written is not used, for it says what is poisoned", async ({
  skip,
}) => {
  skip(process.platform === "win32", "access lists, which the mode does not show, keep user folders apart");
  const folder = temporaryFolder();
  await start(folder);
  const [file = ""] = readdirSync(folder);
  const openings = [
    [join(folder, file), 0o620],
    [folder, 0o702],
  ] as const;
  for (const [path, mode] of openings) {
    expect(await start(folder)).toEqual({ fromCache: true, starts: 0 });
    chmodSync(path, mode);
    expect(await start(folder)).toEqual({ fromCache: false, starts: 1 });
  }
});
