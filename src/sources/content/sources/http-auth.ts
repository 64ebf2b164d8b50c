import { reveal, type Secret } from "../../../net/secret.ts";

/** How an API is told who asks. */
export interface HttpAuth {
  /** The headers of one request, and the values in them that nobody may see. */
  get(signal: AbortSignal): Promise<{
    readonly headers: Readonly<Record<string, string>>;
    readonly secrets: readonly string[];
  }>;
  /** Drops what was fetched and may be stale. True if there was something to drop. */
  forget(): boolean;
}

export const NO_AUTH: HttpAuth = { get: async () => ({ headers: {}, secrets: [] }), forget: () => false };

/** A secret in a header, asked for with every request. */
export function createHeaderAuth(name: string, header: string, secret: Secret, prefix = ""): HttpAuth {
  return {
    get: async () => {
      const value = await reveal(secret, name);
      return { headers: { [header]: `${prefix}${value}` }, secrets: [value] };
    },
    forget: () => false,
  };
}
