import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { detectInjection } from "../../base/safety/detect-injection.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import type { Json } from "../../base/util/json.ts";
import { RESULT_MS } from "./result-store.ts";

const LONGEST = 16 * 1024 * 1024;
const MOST_FILES = 500;

/**
 * Large results as files for clients of the same machine that read files by themselves. The owner alone can read them.
 * A file ends with its handle, or with the gateway.
 */
export class ResultFiles {
  readonly #folder: string;
  readonly #written = new Set<string>();
  readonly #redact = createRedact([], { kinds: true });

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Writes a result and returns its path. Undefined for a result with a secret, for one that tries to steer a model,
   * which has to see it with its mark, and if nothing can be written.
   */
  write(handle: string, value: Json): string | undefined {
    if (this.#redact(hideSecrets(value)) !== value) return undefined;
    const text = toVisibleText(typeof value === "string" ? value : JSON.stringify(value, null, 1));
    if (text.length > LONGEST || detectInjection(text).length > 0) return undefined;
    const ending = typeof value === "string" ? "txt" : "json";
    const path = join(this.#folder, `${contentHash(handle).slice(0, 12)}.${ending}`);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      chmodSync(this.#folder, 0o700);
      this.#prune();
      rmSync(path, { force: true });
      // A file that is there now was put there by somebody else.
      writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    } catch {
      return undefined;
    }
    this.#written.add(path);
    setTimeout(() => this.#prune(), RESULT_MS + 1).unref();
    return path;
  }

  close(): void {
    for (const path of this.#written) rmSync(path, { force: true });
  }

  /** Removes files whose handle has ended, also those of gateways that were killed, and the oldest of too many. */
  #prune(): void {
    const files = (existsSync(this.#folder) ? readdirSync(this.#folder) : [])
      .map((name) => join(this.#folder, name))
      .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
      .sort((one, other) => other.at - one.at);
    for (const [place, { path, at }] of files.entries())
      if (place >= MOST_FILES || Date.now() - at >= RESULT_MS) rmSync(path, { force: true });
  }
}
