import { reveal, type Secret } from "../../../net/secret.ts";

/** Credentials for an API. */
export interface HttpAuth {
  /** Returns the headers of a request and the secrets in them. */
  get(signal: AbortSignal): Promise<{
    readonly headers: Readonly<Record<string, string>>;
    readonly secrets: readonly string[];
  }>;
  /** Drops a cached token that may be stale. Returns false if there was none. */
  forget(): boolean;
}

export const NO_AUTH: HttpAuth = { get: async () => ({ headers: {}, secrets: [] }), forget: () => false };

/** Sends a secret in a header. The secret is read again for each request. */
export function createHeaderAuth(name: string, header: string, secret: Secret, prefix = ""): HttpAuth {
  return {
    get: async () => {
      const value = await reveal(secret, name);
      return { headers: { [header]: `${prefix}${value}` }, secrets: [value] };
    },
    forget: () => false,
  };
}
