import { namesSecret, replaceSecrets } from "./secret-patterns.ts";

const MIN_CHARS = 4;
const MIN_VARIABLE_CHARS = 8;
const REPLACEMENT = "[secret]";

export interface RedactOptions {
  /** Also replaces text that looks like a known kind of secret, and fields whose names say secret. */
  readonly kinds?: boolean;
}

/** Replaces secrets in text and throughout a JSON value. Texts under four characters are no secrets. */
export function createRedact(
  secrets: readonly string[],
  { kinds = false }: RedactOptions = {},
): <T>(value: T) => T {
  const needles = [...new Set(secrets.flatMap(spellings))]
    .filter((needle) => needle.length >= MIN_CHARS)
    .sort((left, right) => right.length - left.length);
  if (needles.length === 0 && !kinds) return (value) => value;
  return (value) => redactValue(value, { needles, kinds }) as typeof value;
}

/** Collects the values of environment variables whose names say secret. */
export function secretVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = ""]) =>
    namesSecret(name) && value.length >= MIN_VARIABLE_CHARS ? [value] : [],
  );
}

interface Wanted {
  readonly needles: readonly string[];
  readonly kinds: boolean;
}

/** The spellings of a secret: plain, in a URL, in JSON. */
function spellings(secret: string): string[] {
  const wellFormed = secret.toWellFormed();
  return [secret, encodeURIComponent(wellFormed), JSON.stringify(wellFormed).slice(1, -1)];
}

function redactValue(value: unknown, wanted: Wanted): unknown {
  if (typeof value === "string") return redactText(value, wanted);
  if (Array.isArray(value)) return value.map((part) => redactValue(part, wanted));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [redactText(key, wanted), redactField(key, part, wanted)]),
  );
}

function redactField(name: string, value: unknown, wanted: Wanted): unknown {
  const isSecret =
    wanted.kinds && typeof value === "string" && value.length >= MIN_CHARS && namesSecret(name);
  return isSecret ? REPLACEMENT : redactValue(value, wanted);
}

function redactText(text: string, { needles, kinds }: Wanted): string {
  const known = needles.reduce((current, needle) => current.replaceAll(needle, () => REPLACEMENT), text);
  return kinds ? replaceSecrets(known, REPLACEMENT) : known;
}
