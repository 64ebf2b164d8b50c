import { spawnSync } from "node:child_process";

/** The keychain of the person's system. Its answers are synchronous, because secrets are filled in while configs load. */
export interface Keychain {
  get(name: string): string | undefined;
  /** False if the keychain does not keep the value, so that another place has to. */
  set(name: string, value: string): boolean;
  remove(name: string): void;
}

const SERVICE = "keyhole";
const TIME_LIMIT_MS = 10_000;
/** Programs of keychains print other values in forms of their own. */
const PLAIN = /^[\x20-\x7e]+$/;

/** A row for each system: its program, and what it takes to look up, keep and forget a value. */
interface KeychainProgram {
  readonly program: string;
  readonly lookup: (name: string) => readonly string[];
  readonly store: (
    name: string,
    value: string,
  ) => { readonly args: readonly string[]; readonly input: string };
  readonly clear: (name: string) => readonly string[];
}

const PROGRAMS: Partial<Record<NodeJS.Platform, KeychainProgram>> = {
  linux: {
    program: "secret-tool",
    lookup: (name) => ["lookup", "service", SERVICE, "account", name],
    store: (name, value) => ({
      args: ["store", `--label=Keyhole: ${name}`, "service", SERVICE, "account", name],
      input: value,
    }),
    clear: (name) => ["clear", "service", SERVICE, "account", name],
  },
  darwin: {
    program: "/usr/bin/security",
    lookup: (name) => ["find-generic-password", "-s", SERVICE, "-a", name, "-w"],
    // Every process may see the arguments of another, so the value goes in by the input.
    store: (name, value) => ({
      args: ["-i"],
      input: `add-generic-password -U -s ${SERVICE} -a ${name} -X ${Buffer.from(value).toString("hex")}\n`,
    }),
    clear: (name) => ["delete-generic-password", "-s", SERVICE, "-a", name],
  },
};

/** The system's keychain by its own program; undefined on systems without one. */
export function systemKeychain(
  platform: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): Keychain | undefined {
  const known = PROGRAMS[platform];
  // Without a session there is nobody to unlock the keychain, and its program would wait.
  if (!known || (platform === "linux" && !env.DBUS_SESSION_BUS_ADDRESS)) return undefined;
  const run = (args: readonly string[], input = "") => {
    const options = { input, env, encoding: "utf8", timeout: TIME_LIMIT_MS, windowsHide: true } as const;
    const { status, stdout } = spawnSync(known.program, args, options);
    return status === 0 ? stdout : undefined;
  };
  const get = (name: string) => run(known.lookup(name))?.replace(/\r?\n$/, "") || undefined;
  return {
    get,
    set: (name, value) => {
      if (!PLAIN.test(value)) return false;
      const { args, input } = known.store(name, value);
      return run(args, input) !== undefined && get(name) === value;
    },
    remove: (name) => void run(known.clear(name)),
  };
}
