import { createRedact } from "../util/redact.ts";
import { isTelling } from "../util/secret-values.ts";

/** Tokens are renewed for as long as the process runs; the oldest are forgotten. */
const MOST = 1_000;

const known = new Set<string>();
let redact: (<T>(value: T) => T) | undefined;

/**
 * Makes secrets of the configuration known to this process, so that {@link hideSecrets} replaces them. Short and
 * common values are ignored: replacing them would garble ordinary text.
 */
export function knowSecrets(secrets: readonly string[]): void {
  for (const secret of secrets) {
    if (!isTelling(secret, true)) continue;
    if (!known.has(secret)) redact = undefined;
    known.delete(secret);
    known.add(secret);
    if (known.size > MOST) known.delete(known.values().next().value!);
  }
}

/** Replaces every known secret in a text or throughout a JSON value. Returns the same value if none is known. */
export function hideSecrets<T>(value: T): T {
  if (known.size === 0) return value;
  redact ??= createRedact([...known]);
  return redact(value);
}
