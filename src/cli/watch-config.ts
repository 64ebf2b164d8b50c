import { unwatchFile, watchFile } from "node:fs";
import { singleFlight } from "../util/single-flight.ts";

export interface Watching<T> {
  readonly path: string;
  /** Reads the file; fails where it is wrong. */
  read(): Promise<T>;
  /** Puts what was read in place. */
  apply(config: T): Promise<void>;
  /** Told once what keeps a save from taking effect. */
  onFailure(error: unknown): void;
  readonly intervalMs?: number;
}

const INTERVAL_MS = 500;

/**
 * Follows a file by looking at it, which sees every way in which editors save: in place, by another file's
 * name, through a link, deleted in between. What is wrong changes nothing. The answer stops it.
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
