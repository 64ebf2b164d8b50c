import type { PromptArgument } from "./files/library-file.ts";

/** Argument name of prompts that use `$ARGUMENTS` and declare no argument. */
export const ALL_ARGUMENTS = "arguments";

const PLACEHOLDERS = /\$\{([^${}\s]{1,64})\}|\$ARGUMENTS\b/g;

/**
 * Replaces `${name}` by that argument and `$ARGUMENTS` by the first given one. One pass: values are never substituted
 * again. Placeholders without a value stay.
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
