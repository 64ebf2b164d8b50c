import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";
import { knowSecrets } from "../../base/safety/known-secrets.ts";
import { createRecordStore } from "../../core/access/record-store.ts";
import { setStateFolder } from "./user-folders.ts";

/** Values that configs refer to by name, so that no config has to contain them. */
export interface Secrets {
  names(): readonly string[];
  get(name: string): string | undefined;
  /** Resolves to the place that keeps the value. */
  set(name: string, value: string): Promise<"keychain" | "file">;
  /** Resolves to false if there is no such secret. */
  remove(name: string): Promise<boolean>;
  /** The place of a secret; undefined if there is none of that name. */
  placeOf(name: string): "keychain" | "file" | undefined;
  /** Set if the store was damaged, so that it has no values. */
  readonly damage: string | undefined;
}

/** Names that `${secret:NAME}`, `${keychain:NAME}` and `${input:NAME}` may have. */
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/**
 * Keeps secrets in the keychain if there is one, and otherwise in a file that only its owner can read. The file has
 * the names of all.
 */
export function createSecrets(path: string, keychain?: Keychain): Secrets {
  const record = z.union([z.object({ value: z.string() }), z.object({ place: z.literal("keychain") })]);
  const store = createRecordStore({ path, record, counted: "set" });
  const find = (name: string) => {
    void store.refresh();
    return store.get(name);
  };
  return {
    get damage() {
      return store.damage;
    },
    names: () => {
      void store.refresh();
      return store.keys().toSorted();
    },
    get: (name) => {
      const found = find(name);
      return found && "value" in found ? found.value : found && keychain?.get(name);
    },
    placeOf: (name) => {
      const found = find(name);
      return found && ("value" in found ? "file" : "keychain");
    },
    set: async (name, value) => {
      const place = keychain?.set(name, value) ? "keychain" : "file";
      await store.change(new Map([[name, place === "keychain" ? { place } : { value }]]));
      return place;
    },
    remove: async (name) => {
      await store.refresh();
      const found = store.get(name);
      if (found === undefined) return false;
      if (!("value" in found)) keychain?.remove(name);
      await store.change(new Map([[name, undefined]]));
      return true;
    },
  };
}

type SecretVariables = Readonly<Record<string, string | undefined>>;

/** Opens the secrets that all commands share. Output never shows their values. */
export function openSecrets(): Secrets {
  const secrets = createSecrets(join(setStateFolder(), "secrets.json"), systemKeychain());
  if (secrets.damage) console.error(secrets.damage);
  const get = (name: string) => {
    const value = secrets.get(name);
    if (value !== undefined) knowSecrets([value]);
    else if (secrets.placeOf(name) === "keychain")
      console.error(
        `The system's keychain does not give ${name}: unlock it, or run keyhole secrets set ${name}.`,
      );
    return value;
  };
  // A keychain is asked only for values that are needed.
  for (const name of secrets.names()) if (secrets.placeOf(name) === "file") get(name);
  return { ...secrets, get };
}

/** An environment together with the secrets, under `secret:NAME`, which no variable of the environment can have. */
export function withSecrets(environment: SecretVariables): SecretVariables {
  const secrets = openSecrets();
  const variables = { ...environment };
  for (const name of secrets.names())
    Object.defineProperty(variables, `secret:${name}`, { get: () => secrets.get(name), enumerable: false });
  return variables;
}

/** The keychain of the person's system. Its answers are synchronous, because secrets are filled in while configs load. */
interface Keychain {
  get(name: string): string | undefined;
  /** False if the keychain does not keep the value, so that another place has to. */
  set(name: string, value: string): boolean;
  remove(name: string): void;
}

const SERVICE = "keyhole";
const TIME_LIMIT_MS = 10_000;
/** Programs of keychains print other values encoded. */
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
