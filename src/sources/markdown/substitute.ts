import type { PromptArgument } from "./files/library-file.ts";

/** The name of the argument of prompts that declare none and use `$ARGUMENTS`. */
export const ALL_ARGUMENTS = "arguments";

const PLACEHOLDERS = /\$\{([^${}\s]{1,64})\}|\$ARGUMENTS\b/g;

/**
 * Puts arguments in the place of `${name}`, and the first one that was given in the place of `$ARGUMENTS`.
 * One pass: what an argument brings in is never looked at again. Placeholders of what was not given stay.
 */
export function substitute(
  template: string,
  declared: readonly PromptArgument[],
  given: Readonly<Record<string, unknown>>,
): string {
  const values = new Map(
    declared
      .filter(({ name }) => Object.hasOwn(given, name) && given[name] !== undefined && given[name] !== null)
      .map(({ name }) => [name, String(given[name])]),
  );
  const [first] = values.values();
  return template.replace(PLACEHOLDERS, (whole, name: string | undefined) =>
    name === undefined ? (first ?? whole) : (values.get(name) ?? whole),
  );
}

export function namesAllArguments(template: string): boolean {
  return /\$ARGUMENTS\b/.test(template);
}
