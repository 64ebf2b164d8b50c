import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Method = (...args: unknown[]) => unknown;

/** Everything that changes a disk, by the object that has it. Deleting works on a full disk. */
const SYNC = [
  "writeFileSync",
  "appendFileSync",
  "renameSync",
  "mkdirSync",
  "chmodSync",
  "writeSync",
] as const;
const ASYNC = ["open", "writeFile", "appendFile", "rename", "mkdir", "chmod"] as const;
const HANDLE = ["writeFile", "appendFile", "write", "sync", "datasync", "chmod", "close"] as const;
/** The place of a write's data among its arguments. */
const DATA: Readonly<Record<string, number>> = {
  writeFileSync: 1,
  appendFileSync: 1,
  writeFile: 0,
  appendFile: 0,
};

export interface FailingWrites {
  /** Whether there was an nth write to fail. */
  readonly failed: boolean;
  restore(): void;
}

/**
 * Lets the nth operation that changes the disk fail as on a full one, after half of its data was written. With
 * `stays`, all later ones fail too.
 */
export async function failWrites(nth: number, { stays = false } = {}): Promise<FailingWrites> {
  let count = 0;
  let failed = false;
  let inside = 0;

  function failing(method: Method, name: string, ofHandle: boolean): Method {
    return function (this: unknown, ...args) {
      // An operation may be built of others.
      if (inside > 0) return method.apply(this, args);
      count += 1;
      const fails = count === nth || (stays && count > nth);
      if (!fails) return nested(() => method.apply(this, args));
      failed = true;
      const at = ofHandle || name.endsWith("Sync") ? DATA[name] : undefined;
      const half = at === undefined ? undefined : halfOf(args[at]);
      const written = half === undefined ? undefined : nested(() => method.apply(this, args.with(at!, half)));
      return name.endsWith("Sync") ? fail(name) : Promise.resolve(written).then(() => fail(name));
    };
  }

  /** Counts what an operation does itself as a part of it. */
  function nested(run: () => unknown): unknown {
    inside += 1;
    try {
      return run();
    } finally {
      inside -= 1;
    }
  }

  const probe = await fs.promises.open(join(tmpdir(), "."), "r");
  const handle = Object.getPrototypeOf(probe) as Record<string, Method>;
  await probe.close();
  const changed = [
    ...patch(fs as unknown as Record<string, Method>, SYNC, (method, name) => failing(method, name, false)),
    ...patch(fs.promises as unknown as Record<string, Method>, ASYNC, (method, name) =>
      failing(method, name, false),
    ),
    ...patch(handle, HANDLE, (method, name) => failing(method, name, true)),
  ];
  syncBuiltinESMExports();
  return {
    get failed() {
      return failed;
    },
    restore: () => {
      for (const restore of changed) restore();
      syncBuiltinESMExports();
    },
  };
}

function patch(
  holder: Record<string, Method>,
  names: readonly string[],
  replace: (method: Method, name: string) => Method,
): (() => void)[] {
  return names.map((name) => {
    const method = holder[name]!;
    holder[name] = replace(method, name);
    return () => {
      holder[name] = method;
    };
  });
}

function halfOf(data: unknown): unknown {
  if (typeof data === "string") return data.slice(0, data.length >> 1);
  return data instanceof Uint8Array ? data.subarray(0, data.length >> 1) : undefined;
}

function fail(name: string): never {
  throw Object.assign(new Error(`ENOSPC: no space left on device, ${name}`), { code: "ENOSPC" });
}
