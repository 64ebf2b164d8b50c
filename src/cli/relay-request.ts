import type { ServeRequest } from "../daemon/wire.ts";
import { SURFACES } from "../surfaces/surface-names.ts";
import { configOfDaemon } from "./config-of-daemon.ts";

/** A request without the parts that only the process itself knows. */
export type RelayRequest = Omit<ServeRequest, "cwd" | "env">;

/** The options of a client that may be served by the daemon, and whether each takes a value. */
const OPTIONS: ReadonlyMap<string, boolean> = new Map([
  ["--config", true],
  ["--profile", true],
  ["--surface", true],
  ["--shortcut", true],
  ["--learned-shortcuts", true],
  ["--trust", false],
  ["--allow-write", false],
]);

/**
 * Reads the arguments of a `keyhole serve` that the daemon serves. Undefined for any other, also for one with a
 * mistake: the whole program knows what to say. `parseArgs` of Node would cost every client a megabyte.
 */
export function readRelayRequest(args: readonly string[]): RelayRequest | undefined {
  // A person at the terminal wants to see what is up, which only a process of its own can tell.
  if (process.stdin.isTTY || process.env.KEYHOLE_NO_DAEMON) return undefined;
  const given = readOptions(args);
  const surface = given?.get("--surface")?.at(-1);
  if (!given || (surface !== undefined && !SURFACES.some((name) => name === surface))) return undefined;
  const learnedShortcuts = given.get("--learned-shortcuts")?.at(-1);
  if (learnedShortcuts !== undefined && !/^\d{1,3}$/.test(learnedShortcuts)) return undefined;
  const config = configOfDaemon(given.get("--config")?.at(-1));
  // A config that is code has an environment and a folder of its own, so it needs a process of its own.
  return config === undefined
    ? undefined
    : {
        config,
        profile: given.get("--profile")?.at(-1),
        surface,
        shortcuts: given.get("--shortcut") ?? [],
        learnedShortcuts: Number(learnedShortcuts ?? 0),
        trusted: given.has("--trust"),
        allowWrite: given.has("--allow-write"),
      };
}

function readOptions(args: readonly string[]): Map<string, string[]> | undefined {
  const given = new Map<string, string[]>();
  const words = [...args];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const at = word.indexOf("=");
    const name = at < 0 ? word : word.slice(0, at);
    const takesValue = OPTIONS.get(name);
    if (takesValue === undefined || (at >= 0 && !takesValue)) return undefined;
    const value = !takesValue ? "" : at >= 0 ? word.slice(at + 1) : words.shift();
    // A value that begins like an option is a mistake, unless it is written with "=".
    if (value === undefined || (at < 0 && value.startsWith("-"))) return undefined;
    given.set(name, [...(given.get(name) ?? []), value]);
  }
  return given;
}
