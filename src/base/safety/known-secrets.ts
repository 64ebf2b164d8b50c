import { problem } from "../problems/problem.ts";
import { createRedact } from "./redact.ts";
import { isTelling } from "./secret-values.ts";

/** Tokens are renewed as long as the process runs: forget the oldest texts. */
const MOST = 1_000;

/** Texts that are replaced wherever they appear. */
class KnownTexts {
  readonly #texts = new Set<string>();
  #redact: (<T>(value: T) => T) | undefined;

  know(text: string): void {
    if (!this.#texts.has(text)) this.#redact = undefined;
    this.#texts.delete(text);
    this.#texts.add(text);
    if (this.#texts.size > MOST) this.#texts.delete(this.#texts.values().next().value!);
  }

  hide<T>(value: T): T {
    if (this.#texts.size === 0) return value;
    this.#redact ??= createRedact([...this.#texts]);
    return this.#redact(value);
  }
}

const secretsOfConfig = new KnownTexts();
const linesOfFiles = new KnownTexts();

/**
 * Registers secrets of the configuration, so that {@link hideSecrets} replaces them. Ignores short and common values,
 * because replacing them would garble ordinary text.
 */
export function knowSecrets(secrets: readonly string[]): void {
  for (const secret of secrets) if (isTelling(secret, true)) secretsOfConfig.know(secret);
}

/** Replaces every known secret in a text or a JSON value. Returns the same value if it contains none. */
export function hideSecrets<T>(value: T): T {
  return secretsOfConfig.hide(value);
}

/** Registers the text of a sensitive file, by lines and by values in them. A model may read it. */
export function knowSensitiveText(text: string): void {
  for (const line of text.split("\n").map((one) => one.trim())) {
    const value = /^[^=:]*[=:]\s*["']?(.*?)["']?$/.exec(line)?.[1] ?? "";
    for (const part of [line, value]) if (isTelling(part, true)) linesOfFiles.know(part);
  }
}

/** Replaces known secrets and the text of sensitive files, for records on disk. */
export function hideFromRecords<T>(value: T): T {
  return linesOfFiles.hide(hideSecrets(value));
}

/** A secret value, or a function that fetches it on demand. */
export type Secret = string | (() => string | Promise<string>);

const ONE_LINE = /^\P{Cc}+$/u;
/** Matches secrets with several lines, such as PEM keys. */
export const SEVERAL_LINES = /^[\P{Cc}\r\n]+$/u;

/**
 * Returns the value of a secret, and registers it, so that it is hidden everywhere. The problem never quotes the value.
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
