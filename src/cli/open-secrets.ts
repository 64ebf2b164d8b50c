import { join } from "node:path";
import { createSecrets, type Secrets } from "../access/secrets.ts";
import { knowSecrets } from "../net/known-secrets.ts";
import { setStateFolder } from "./user-folders.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Opens the secrets that all commands share. Output never shows their values. */
export function openSecrets(): Secrets {
  const secrets = createSecrets(join(setStateFolder(), "secrets.json"));
  if (secrets.damage) console.error(secrets.damage);
  knowSecrets(secrets.names().flatMap((name) => secrets.get(name) ?? []));
  return secrets;
}

/** An environment together with the secrets, under `secret:NAME`, which no variable of the environment can have. */
export function withSecrets(environment: Variables): Variables {
  const secrets = openSecrets();
  const values = secrets.names().map((name) => [`secret:${name}`, secrets.get(name)]);
  return { ...environment, ...Object.fromEntries(values) };
}
