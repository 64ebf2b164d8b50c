import { mkdir, realpath, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "../util/write-file-atomic.ts";

/** For new files, because configs contain keys. */
const MODE = 0o600;

/** Writes a config, or removes it if there is no text. Follows links and keeps the permissions. */
export async function writeText(path: string, text: string | undefined): Promise<void> {
  if (text === undefined) return rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (facts) => facts.mode & 0o777,
    () => MODE,
  );
  await writeFileAtomic(target, text, mode);
}
