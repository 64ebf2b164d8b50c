import type { Provider } from "../src/agent/models/providers/define-provider.ts";
import { PROVIDERS } from "../src/agent/models/providers/providers.ts";

/** The table of providers in docs/models.md. */
export function providersTable(): string {
  const rows = Object.entries<Provider>(PROVIDERS).map(([name, provider]) => {
    const fields = Object.keys(provider.config.shape).map(code).join(", ");
    const model = provider.defaultModel?.({});
    const cells = [
      code(name),
      code(provider.package),
      fields,
      modelCell(provider, model),
      variablesOf(provider),
    ];
    return `| ${cells.join(" | ")} | ${code(provider.telemetryName)} |`;
  });
  return [
    "| provider | package | fields | default model | variables | `gen_ai.provider.name` |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

/** The rows of providers in the table of variables in docs/configuration.md. */
export function providerVariablesTable(): string {
  const rows = Object.entries<Provider>(PROVIDERS).flatMap(([name, { env }]) =>
    Object.entries<readonly string[] | undefined>(env).map(([field, variables = []]) => {
      const order = variables.length > 1 ? "; the first that is set counts" : "";
      return `| ${variables.map(code).join(", ")} | ${code(`providers.${name}.${field}`)}${order} |`;
    }),
  );
  return ["| variable | setting |", "|---|---|", ...rows].join("\n");
}

function modelCell(provider: Provider, model: string | undefined): string {
  const field = code(provider.modelField({}));
  return model === undefined ? `none: set ${field}` : `${code(model)} (${field})`;
}

function variablesOf({ env }: Provider): string {
  return Object.values<readonly string[] | undefined>(env)
    .flatMap((names = []) => names.map(code))
    .join(", ");
}

function code(text: string): string {
  return `\`${text}\``;
}
