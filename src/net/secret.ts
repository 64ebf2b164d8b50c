import { problem } from "../schema/problem.ts";

/** A secret value, or what fetches it when it is needed. */
export type Secret = string | (() => string | Promise<string>);

const ONE_LINE = /^\P{Cc}+$/u;
/** Keys in PEM. */
export const SEVERAL_LINES = /^[\P{Cc}\r\n]+$/u;

/** The value of a secret; one that cannot be had is a matter of login, and says nothing of itself. */
export async function reveal(secret: Secret, label: string, form: RegExp = ONE_LINE): Promise<string> {
  let value: unknown;
  try {
    value = typeof secret === "function" ? await secret() : secret;
  } catch {
    value = undefined;
  }
  if (typeof value === "string" && form.test(value)) return value;
  throw problem("LOGIN_NEEDED", {
    name: label,
    status: "nothing",
    reason: "its credentials cannot be read.",
  });
}
