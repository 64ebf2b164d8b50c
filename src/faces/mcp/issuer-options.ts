/** Names an issuer of tokens, and where its keys are. */
export interface IssuerOptions {
  /** The exact `iss` of the tokens. */
  readonly issuer: string;
  /**
   * The URL of the issuer's keys. It may be private; redirects are not followed. Default: the one that the issuer
   * publishes about itself (OpenID Connect Discovery, RFC 8414).
   */
  readonly jwksUri?: string;
  /** The issuer's keys themselves. */
  readonly keys?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
}
