import { problem } from "../schema/problem.ts";
import { knowSecrets } from "./known-secrets.ts";

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
