// Stands in the bundle for the module of this name that the client and the server of the MCP SDK have: each brings an
// Ajv of its own, which takes 2 MB of a daemon's memory. Keyhole gives both a validator, so neither makes one.
export { default as process } from "node:process";

/** Node's `fetch` knows no CORS. */
export const CORS_IS_POSSIBLE = false;

export class DefaultJsonSchemaValidator {
  constructor() {
    throw new Error("Give the client or server of the SDK a jsonSchemaValidator.");
  }
}
