import { problem } from "../problems/problem.ts";
import { createRedact } from "./redact.ts";
import { isTelling } from "./secret-values.ts";

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

/** A secret value, or a function that fetches it when it is needed. */
export type Secret = string | (() => string | Promise<string>);

const ONE_LINE = /^\P{Cc}+$/u;
/** Matches secrets of several lines, such as keys in PEM. */
export const SEVERAL_LINES = /^[\P{Cc}\r\n]+$/u;

/**
 * Returns the value of a secret, and makes it known, so that it is hidden wherever it appears. The problem never
 * quotes the value.
 *
 * @throws `LOGIN_NEEDED` if the value cannot be read or has another form.
 */
export async function reveal(secret: Secret, label: string, form: RegExp = ONE_LINE): Promise<string> {
  let value: unknown;
  try {
    value = typeof secret === "function" ? await secret() : secret;
  } catch {
    value = undefined;
  }
  if (typeof value === "string" && form.test(value)) {
    knowSecrets([value]);
    return value;
  }
  throw problem("LOGIN_NEEDED", {
    name: label,
    status: "nothing",
    reason: "its credentials cannot be read.",
  });
}
