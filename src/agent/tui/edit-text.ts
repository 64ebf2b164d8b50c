import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { problem } from "../../base/problems/problem.ts";

/**
 * Lets the person edit a text in the editor that $VISUAL or $EDITOR names, as git does. The editor needs the terminal:
 * nothing else may read it or write to it meanwhile.
 *
 * @throws INVALID_INPUT if the editor cannot be started, or fails
 */
export async function editText(text: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const editor = env.VISUAL?.trim() || env.EDITOR?.trim() || "vi";
  const folder = await mkdtemp(join(tmpdir(), "keyhole-"));
  const path = join(folder, "message.md");
  const ignore = () => {};
  // Ctrl-C belongs to the editor.
  process.on("SIGINT", ignore);
  try {
    await writeFile(path, text, { mode: 0o600 });
    const { status } = spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" });
    if (status !== 0) {
      const reason = `the editor ${editor} failed; VISUAL or EDITOR names another one`;
      throw problem("INVALID_INPUT", { operation: "Ctrl-G", reason });
    }
    return (await readFile(path, "utf8")).trimEnd();
  } finally {
    await nextTick();
    process.off("SIGINT", ignore);
    await rm(folder, { recursive: true, force: true });
  }
}
