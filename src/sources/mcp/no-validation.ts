import type { JsonSchemaValidator } from "@modelcontextprotocol/client";

/**
 * A validator for clients and servers of the SDK that accepts every value. Compiling an outside schema could block the
 * process, and each server would make an Ajv of its own. Callers check results and answers themselves.
 */
export const NO_VALIDATION = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (data) => ({ valid: true, data: data as T, errorMessage: undefined }),
};
