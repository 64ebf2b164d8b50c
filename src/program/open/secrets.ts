import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";
import { knowSecrets } from "../../base/safety/known-secrets.ts";
import { openRecordFile } from "../../core/storage/record-file.ts";
import { openRecords } from "../../core/storage/records.ts";
import { tellDamage } from "./person-grants.ts";
import { setStateFolder } from "./user-folders.ts";

/** Names that `${secret:NAME}`, `${keychain:NAME}` and `${input:NAME}` may have. */
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

const recordSchema = z.union([z.object({ value: z.string() }), z.object({ place: z.literal("keychain") })]);

/** The file in the state folder. */
export const SECRETS_FILE = "secrets.db";

type SecretPlace = "keychain" | "file";
/** Values that configs refer to by name, so that no config has to contain them. */
export type Secrets = ReturnType<typeof createSecrets>;

/**
 * Keeps secrets in the keychain if there is one, and otherwise in a file that only its owner can read. The file has
 * the names of all.
 */
export function createSecrets(path: string, keychain?: Keychain) {
  const store = openRecords(openRecordFile(path), "secret", recordSchema);
  const find = (name: string) => {
    void store.refresh();
    return store.get(name);
  };
  return {
    /** Set if the store was damaged, so that it has no values. */
    get damage() {
      return store.damage;
    },
    names: (): readonly string[] => {
      void store.refresh();
      return [...store.entries().keys()].sort();
    },
    get: (name: string) => {
      const record = find(name);
      return record && "value" in record ? record.value : record && keychain?.get(name);
    },
    /** The place of a secret; undefined if there is none of that name. */
    placeOf: (name: string): SecretPlace | undefined => {
      const record = find(name);
      return record && ("value" in record ? "file" : "keychain");
    },
    /** Resolves to the place that keeps the value. */
    set: async (name: string, value: string): Promise<SecretPlace> => {
      const place = keychain?.set(name, value) ? "keychain" : "file";
      await store.change(new Map([[name, place === "keychain" ? { place } : { value }]]));
      return place;
    },
    /** Resolves to false if there is no such secret. */
    remove: async (name: string) => {
      const record = find(name);
      if (record === undefined) return false;
      if (!("value" in record)) keychain?.remove(name);
      await store.change(new Map([[name, undefined]]));
      return true;
    },
  };
}

type SecretVariables = Readonly<Record<string, string | undefined>>;

/** Opens the secrets that all commands share. Output never shows their values. */
export function openSecrets(): Secrets {
  const secrets = createSecrets(join(setStateFolder(), SECRETS_FILE), systemKeychain());
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
  tellDamage(secrets.damage);
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

const SERVICE = "keyhole";
const TIME_LIMIT_MS = 10_000;
/** Programs of keychains print other values in forms of their own. */
const PLAIN = /^[\x20-\x7e]+$/;

/** The program of each system, and what it takes to look up, keep and forget a value. */
const PROGRAMS = {
  linux: {
    program: "secret-tool",
    lookup: (name: string) => ["lookup", "service", SERVICE, "account", name],
    store: (name: string, value: string) => ({
      args: ["store", `--label=Keyhole: ${name}`, "service", SERVICE, "account", name],
      input: value,
    }),
    clear: (name: string) => ["clear", "service", SERVICE, "account", name],
  },
  darwin: {
    program: "/usr/bin/security",
    lookup: (name: string) => ["find-generic-password", "-s", SERVICE, "-a", name, "-w"],
    // Every process may see the arguments of another, so the value goes in by the input.
    store: (name: string, value: string) => ({
      args: ["-i"],
      input: `add-generic-password -U -s ${SERVICE} -a ${name} -X ${Buffer.from(value).toString("hex")}\n`,
    }),
    clear: (name: string) => ["delete-generic-password", "-s", SERVICE, "-a", name],
  },
};

type Keychain = NonNullable<ReturnType<typeof systemKeychain>>;

/**
 * The system's keychain by its own program; undefined on systems without one. Its answers are synchronous, because
 * secrets are filled in while configs load.
 */
export function systemKeychain(platform: NodeJS.Platform = process.platform, env = process.env) {
  if (platform !== "linux" && platform !== "darwin") return undefined;
  // Without a session there is nobody to unlock the keychain, and its program would wait.
  if (platform === "linux" && !env.DBUS_SESSION_BUS_ADDRESS) return undefined;
  const { program, lookup, store, clear } = PROGRAMS[platform];
  const run = (args: readonly string[], input = "") => {
    const options = { input, env, encoding: "utf8", timeout: TIME_LIMIT_MS, windowsHide: true } as const;
    const { status, stdout } = spawnSync(program, args, options);
    return status === 0 ? stdout : undefined;
  };
  const get = (name: string) => run(lookup(name))?.replace(/\r?\n$/, "") || undefined;
  return {
    get,
    /** False if the keychain does not keep the value, so that another place has to. */
    set: (name: string, value: string) => {
      if (!PLAIN.test(value)) return false;
      const { args, input } = store(name, value);
      return run(args, input) !== undefined && get(name) === value;
    },
    remove: (name: string) => void run(clear(name)),
  };
}
