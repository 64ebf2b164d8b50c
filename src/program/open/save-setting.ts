import { readFile, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { configMistakes } from "../../base/json-schema/zod-mistakes.ts";
import { problem } from "../../base/problems/problem.ts";
import type { Json } from "../../base/util/json.ts";
import { makeFolder } from "../../base/util/make-folder.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { editJsonc } from "../clients/formats/json-format.ts";
import { parseJsonc } from "../clients/formats/parse-jsonc.ts";
import { withValue } from "./merge-settings.ts";
import { readSettingsFile } from "./read-settings-file.ts";
import { settingsFileSchema } from "./settings-schema.ts";

/** Readable by the owner only, because settings may contain keys. */
const MODE = 0o600;

let turn: Promise<unknown> = Promise.resolve();

/**
 * Sets one setting in a file, at a path such as `providers.default` or `["permissions", "folders", "/a.b"]`. Without a value, removes it. Comments
 * and other settings stay as they are. A missing file is created. Saves run one after the other.
 *
 * @throws FILE_INVALID if the file is wrong, or would be with the new value; the file is not touched then.
 */
export function saveSetting(
  path: string | readonly string[],
  value: Json | undefined,
  { file }: { readonly file: string },
): Promise<void> {
  const saved = turn.then(() => save(typeof path === "string" ? path.split(".") : path, value, file));
  turn = saved.catch(() => {});
  return saved;
}

async function save(path: readonly string[], value: unknown, file: string): Promise<void> {
  const read = await readSettingsFile(file);
  if (read.state === "wrong") throw read.problems[0];
  const checked = settingsFileSchema.safeParse(
    withValue(read.state === "read" ? read.written : {}, path, value),
  );
  if (!checked.success) {
    const reason = checked.error.issues.map((issue) => configMistakes(settingsFileSchema, issue)).join("; ");
    throw problem("FILE_INVALID", { file, line: 1, column: 1, reason });
  }
  makeFolder(dirname(file));
  const current = read.state === "read" ? await readFile(file, "utf8") : "";
  const text = await editJsonc(current.trim() === "" ? "{}\n" : current, [{ path, value }]);
  const reread = await parseJsonc(text);
  if (!reread.ok || !isDeepStrictEqual(settingsFileSchema.safeParse(reread.value).data, checked.data)) {
    throw problem("FILE_INVALID", { file, line: 1, column: 1, reason: "it can only be changed by hand" });
  }
  // Follow a link to the file instead of replacing it.
  await writeFileAtomic(await realpath(file).catch(() => file), text, MODE);
}
