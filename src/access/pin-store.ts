import { readFileSync, renameSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { contentHash } from "../util/content-hash.ts";
import { writeFileAtomic } from "../util/write-file-atomic.ts";

/** A definition that a person has approved. */
export interface Approval {
  readonly hash: string;
  readonly definition: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly approvedAt: number;
}

/** Approvals by key. An approval that cannot be read does not count. */
export interface PinStore {
  get(key: string): Approval | undefined;
  /** Sets approvals, or removes those that are undefined. Resolves once they are on disk; a failure changes nothing. */
  change(changes: ReadonlyMap<string, Approval | undefined>): Promise<void>;
  /** Reads the file again if it was written since. True if approvals have changed. */
  refresh(): boolean;
  /** Set if the file was damaged, so that nothing in it counts. */
  readonly damage: string | undefined;
}

const FORMAT = 1;
const approvalSchema = z.object({
  hash: z.string(),
  definition: z.record(z.string(), z.unknown()),
  approvedAt: z.number(),
});
const fileSchema = z.object({
  format: z.literal(FORMAT),
  checksum: z.string(),
  pins: z.array(z.tuple([z.string(), approvalSchema])),
});

/** Keeps approvals in a file, or in memory without a path. */
export function createPinStore(path?: string): PinStore {
  let stamp = stampOf(path);
  let { pins, damage } = read(path);
  let changing: Promise<void> = Promise.resolve();

  async function apply(changes: ReadonlyMap<string, Approval | undefined>): Promise<void> {
    // Start from the file, so that approvals which another process revoked do not come back.
    const next = path === undefined ? new Map(pins) : read(path).pins;
    for (const [key, approval] of changes) {
      if (approval) next.set(key, approval);
      else next.delete(key);
    }
    if (path !== undefined) await write(path, next);
    pins = next;
  }

  return {
    get damage() {
      return damage;
    },
    refresh: () => {
      const found = stampOf(path);
      if (found === stamp) return false;
      stamp = found;
      const before = checksumOf(pins);
      ({ pins, damage } = read(path));
      return checksumOf(pins) !== before;
    },
    get: (key) => pins.get(key),
    change: (changes) => {
      const applied = changing.then(() => apply(changes));
      changing = applied.catch(() => {});
      return applied;
    },
  };
}

/** Differs after every write. Taken before the file is read, so that no write in between is missed. */
function stampOf(path: string | undefined): string | undefined {
  const about = path === undefined ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return about && [about.ino, about.mtimeNs, about.size].join(" ");
}

function checksumOf(pins: ReadonlyMap<string, Approval>): string {
  return contentHash(sorted(pins));
}

function sorted(pins: ReadonlyMap<string, Approval>): [string, Approval][] {
  return [...pins].sort(([left], [right]) => (left < right ? -1 : 1));
}

async function write(path: string, pins: ReadonlyMap<string, Approval>): Promise<void> {
  const content = sorted(pins);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ format: FORMAT, checksum: contentHash(content), pins: content }, null, 1);
  await writeFileAtomic(path, text);
}

function read(path: string | undefined): { pins: Map<string, Approval>; damage: string | undefined } {
  const empty = new Map<string, Approval>();
  if (path === undefined) return { pins: empty, damage: undefined };
  try {
    const file = fileSchema.parse(JSON.parse(readFileSync(path, "utf8")));
    if (contentHash(file.pins) === file.checksum) return { pins: new Map(file.pins), damage: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { pins: empty, damage: undefined };
  }
  return { pins: empty, damage: setAside(path) };
}

/** Keeps a damaged file for inspection. */
function setAside(path: string): string {
  const aside = `${path}.damaged`;
  try {
    renameSync(path, aside);
    return `${path} cannot be read; it is kept as ${aside}, and nothing in it counts as approved`;
  } catch {
    return `${path} cannot be read, and nothing in it counts as approved`;
  }
}
