export type { GuardedFetch, GuardedRequest, GuardOptions } from "./guarded-fetch/guarded-fetch.ts";
export { createGuardedFetch } from "./guarded-fetch/guarded-fetch.ts";
export type { ClientCredentials } from "./openapi/client-credentials.ts";
export type { OpenApiAuth } from "./openapi/credentials.ts";
export type { OpenApiOptions } from "./openapi/openapi-source.ts";
export { createOpenApiSource } from "./openapi/openapi-source.ts";
export type { Secret } from "./openapi/secret.ts";
