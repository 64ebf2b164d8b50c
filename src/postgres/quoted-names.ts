import { problem } from "../base/problems/problem.ts";

const IDENTIFIER = /^(?:[a-z_][a-z0-9_]{0,39}\.)?[a-z_][a-z0-9_]{0,39}$/;

/**
 * Builds names in a database from a prefix, safe to put into SQL.
 *
 * @throws `INVALID_INPUT` if the prefix is not a plain identifier, with or without a schema.
 */
export function quotedNames(table: string, operation: string): (suffix: string) => string {
  if (!IDENTIFIER.test(table)) {
    throw problem("INVALID_INPUT", {
      operation,
      reason:
        "`table` must be a name of at most 40 lower-case letters, digits and underscores, or schema.name",
    });
  }
  const [name = "", schema] = table.split(".").reverse();
  return (suffix) => {
    const quoted = `"${name}${suffix}"`;
    return schema === undefined ? quoted : `"${schema}".${quoted}`;
  };
}
