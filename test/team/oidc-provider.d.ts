/** The part of `oidc-provider` that the test issuer uses; the package has no types of its own. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    readonly AccessToken: new (
      properties: Record<string, unknown>,
    ) => { resourceServer: unknown; scope: string | undefined; expiration: number; save(): Promise<string> };
    readonly Grant: new (
      properties: Record<string, unknown>,
    ) => {
      addOIDCScope(scope: string): void;
      addResourceScope(resource: string, scope: string): void;
      save(): Promise<string>;
    };
    readonly ResourceServer: new (
      identifier: string,
      info: Record<string, unknown>,
    ) => unknown;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    registerGrantType(
      name: string,
      handler: (ctx: Context) => Promise<void>,
      parameters: readonly string[],
    ): void;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
    ): Promise<void>;
  }

  export interface Context {
    readonly oidc: {
      readonly provider: Provider;
      readonly client: { readonly clientId: string };
      readonly session: { readonly accountId: string };
      readonly params: Readonly<Record<string, string | undefined>>;
    };
    status: number;
    body: unknown;
  }

  export const interactionPolicy: {
    base(): unknown[] & { get(name: string): { checks: { clear(): void } }; remove(name: string): void };
  };
}
