import { invalid } from "./server-config.ts";

type Variables = Readonly<Record<string, string | undefined>>;

// Linear: the closing brace bounds each match, and no part is ambiguous.
const VARIABLE = /\$\{([^{}]*)\}/g;
const NAME = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
/** Values that a person keeps outside the config. VS Code asks for its inputs; here they are secrets of that name. */
const SECRET = /^(?:secret|input|keychain):([A-Za-z0-9_][A-Za-z0-9_.-]*)$/;

/**
 * Replaces `${X}`, `${env:X}` and `${X:-default}` by their values, and `${secret:X}` and `${input:X}` by the variable
 * `secret:X`. Errors name the variable, never a value.
 *
 * @throws SERVER_CONFIG_INVALID
 */
export function expandVariables(label: string, text: string, variables: Variables): string {
  return text.replace(VARIABLE, (whole, inner: string) => {
    const [, secret] = SECRET.exec(inner) ?? [];
    if (secret !== undefined) {
      const kept = variables[`secret:${secret}`];
      if (kept !== undefined) return kept;
      throw invalid(label, `the secret ${secret} is not set; keyhole secrets set ${secret} sets it`);
    }
    const [, name, fallback] = NAME.exec(inner) ?? [];
    if (name === undefined) throw invalid(label, `${whole} is not a variable that can be filled in`);
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw invalid(label, `the variable ${name} is not set`);
  });
}

/** Expands all values of a record. */
export function expandAll(
  label: string,
  texts: Readonly<Record<string, string>>,
  variables: Variables,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, expandVariables(label, text, variables)]),
  );
}

/** The names of the secrets that texts within a value refer to. */
export function secretNamesIn(value: unknown): string[] {
  const texts = JSON.stringify(value) ?? "";
  const names = [...texts.matchAll(VARIABLE)].flatMap(([, inner = ""]) => SECRET.exec(inner)?.[1] ?? []);
  return [...new Set(names)];
}
