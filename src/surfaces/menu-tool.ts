import type { JsonSchema } from "../schema/json-schema.ts";

/** A tool as a model is offered it. */
export interface MenuTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: Readonly<Record<string, unknown>> & {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
  };
  /** This and the rest are as the upstream server declares them. */
  readonly outputSchema?: JsonSchema;
  readonly execution?: { readonly taskSupport: "optional" };
  readonly icons?: readonly unknown[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}
