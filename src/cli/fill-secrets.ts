import type { LoadedSettings } from "../config/load-settings.ts";
import type { Settings } from "../config/settings-schema.ts";
import { isProblem, type Problem, problem } from "../schema/problem.ts";
import { expandVariables } from "../sources/mcp/config/expand-variables.ts";
import { isFields } from "../util/fields.ts";
import { reasonOf } from "../util/reason-of.ts";

/** The only fields that are filled in: nobody but the owner can set them, and they go nowhere else than to the provider. */
const KEY_FIELDS = ["apiKey", "token"];

/**
 * Fills `${keychain:NAME}`, `${secret:NAME}` and `${VARIABLE}` into the keys of providers. A key that cannot be filled
 * in counts as missing, and a problem says why.
 */
export function fillSecrets(
  loaded: LoadedSettings,
  variables: () => Readonly<Record<string, string | undefined>>,
): LoadedSettings {
  const problems: Problem[] = [];
  let found: ReturnType<typeof variables> | undefined;
  const fill = (provider: string, field: string, value: unknown): unknown => {
    if (!KEY_FIELDS.includes(field) || typeof value !== "string" || !value.includes("${")) return value;
    try {
      found ??= variables();
      return expandVariables(provider, value, found);
    } catch (error) {
      const reason = isProblem(error) ? String(error.details.reason) : reasonOf(error);
      problems.push(problem("PROVIDER_NOT_CONFIGURED", { name: provider, reason: `${reason}.` }));
      return undefined;
    }
  };
  const providers = Object.entries(loaded.settings.providers).map(([name, part]): [string, unknown] => {
    if (!isFields(part)) return [name, part];
    const fields = Object.entries(part).map(([field, value]) => [field, fill(name, field, value)] as const);
    return [name, Object.fromEntries(fields.filter(([, value]) => value !== undefined))];
  });
  if (found === undefined) return loaded;
  return {
    ...loaded,
    settings: { ...loaded.settings, providers: Object.fromEntries(providers) as Settings["providers"] },
    problems: [...loaded.problems, ...problems],
  };
}
