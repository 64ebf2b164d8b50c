import { join } from "node:path";
import { systemKeychain } from "../access/keychain.ts";
import { createSecrets, type Secrets } from "../access/secrets.ts";
import { knowSecrets } from "../net/known-secrets.ts";
import { setStateFolder } from "./user-folders.ts";

type Variables = Readonly<Record<string, string | undefined>>;

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
export function withSecrets(environment: Variables): Variables {
  const secrets = openSecrets();
  const variables = { ...environment };
  for (const name of secrets.names())
    Object.defineProperty(variables, `secret:${name}`, { get: () => secrets.get(name), enumerable: false });
  return variables;
}
