/** The parts of an OpenAPI 3 document that are read. All of it comes from outside: every field may be anything. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly [part: string]: unknown;
}
