import { unwatchFile, watchFile } from "node:fs";
import { singleFlight } from "../util/single-flight.ts";

export interface Watching<T> {
  readonly path: string;
  /** Reads the file. Rejects if it is wrong. */
  read(): Promise<T>;
  /** Applies the new config. */
  apply(config: T): Promise<void>;
  /** Called once for each new reason why a change cannot be applied. */
  onFailure(error: unknown): void;
  readonly intervalMs?: number;
}

const INTERVAL_MS = 500;

/**
 * Follows a file by polling, which notices every way in which editors save: in place, by renaming, through a
 * link, or by deleting first. A wrong config changes nothing. Returns a function that stops it.
 */
export function watchConfig<T>({
  path,
  read,
  apply,
  onFailure,
  intervalMs = INTERVAL_MS,
}: Watching<T>): () => void {
  let saved = false;
  let said: string | undefined;

  const follow = singleFlight(async () => {
    while (saved) {
      saved = false;
      try {
        await apply(await read());
        said = undefined;
      } catch (error) {
        if (said !== String(error)) onFailure(error);
        said = String(error);
      }
    }
  });
  const onSave = () => {
    saved = true;
    void follow();
  };
  watchFile(path, { interval: intervalMs, persistent: false }, onSave);
  return () => unwatchFile(path, onSave);
}
