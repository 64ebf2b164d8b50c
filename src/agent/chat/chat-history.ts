import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { createRedact } from "../../base/safety/redact.ts";

const MOST_LINES = 1_000;
const MOST_KEPT = 5_000;

/**
 * Keeps the lines that a person sent in a file that only its owner can read. A file that cannot be written is no
 * reason to stop.
 */
export async function openChatHistory(path: string, folder: string) {
  const redact = createRedact([], { kinds: true });
  const text = await readFile(path, "utf8").catch(() => "");
  const records = text.split("\n").flatMap(readLine);
  if (records.length > 2 * MOST_KEPT) {
    const kept = records.slice(-MOST_KEPT).map((record) => `${JSON.stringify(record)}\n`);
    await writeFile(path, kept.join(""), { mode: 0o600 }).catch(() => {});
  }
  const lines = records.filter((record) => record.folder === folder).map(({ line }) => line);
  let writing = Promise.resolve();
  return {
    /** Those of this folder, oldest first. */
    lines: lines.slice(-MOST_LINES),
    add: (line: string) => {
      const record = redact(hideSecrets({ folder, line }));
      writing = writing
        .then(() => mkdir(dirname(path), { recursive: true, mode: 0o700 }))
        .then(() => appendFile(path, `${JSON.stringify(record)}\n`, { mode: 0o600 }))
        .catch(() => {});
    },
  };
}

function readLine(text: string): { folder: string; line: string }[] {
  try {
    const { folder, line } = JSON.parse(text) as Record<string, unknown>;
    return typeof folder === "string" && typeof line === "string" ? [{ folder, line }] : [];
  } catch {
    return [];
  }
}
