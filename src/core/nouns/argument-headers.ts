import { subschemas } from "../../base/json-schema/walk-schema.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";

const HEADER = "x-mcp-header";
/** A name that can stand in a header (RFC 9110). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];

/** An argument that its schema also wants in an HTTP header. */
export interface ArgumentHeader {
  readonly path: readonly string[];
  readonly name: string;
  readonly type: string;
}

/** The headers of a tool, or the error in its schema. */
export type ArgumentHeaders =
  | { readonly ok: true; readonly headers: readonly ArgumentHeader[] }
  | { readonly ok: false; readonly reason: string };

interface SchemaPosition {
  readonly node: unknown;
  /** The argument, or the nearest one around it; absent at the root. */
  readonly name?: string;
  readonly parent?: SchemaPosition;
  /** Whether a path of `properties` leads to it, so that names identify the argument. */
  readonly direct: boolean;
}

/** Reads which arguments an input schema wants repeated in HTTP headers. Takes any value; must not throw. */
export function readArgumentHeaders(schema: unknown): ArgumentHeaders {
  const headers = new Map<string, ArgumentHeader>();
  const pending: SchemaPosition[] = [{ node: schema, direct: true }];
  // A stack instead of recursion: definitions may be nested deeper than the call stack.
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { node, direct, name } = at;
    if (!isPlainObject(node)) continue;
    if (Object.hasOwn(node, HEADER)) {
      const type = Object.hasOwn(node, "type") ? node.type : undefined;
      const fault = faultOf(node[HEADER], type, direct && name !== undefined, headers);
      if (fault !== undefined) return { ok: false, reason: `${name ?? "its schema"} ${fault}` };
      const argumentHeader = { path: pathOf(at), name: String(node[HEADER]), type: String(type) };
      headers.set(argumentHeader.name.toLowerCase(), argumentHeader);
    }
    for (const { value, keyword, key } of subschemas(node)) {
      if (keyword === "properties") pending.push({ node: value, name: String(key), parent: at, direct });
      else pending.push({ node: value, ...(name !== undefined && { name }), direct: false });
    }
  }
  return { ok: true, headers: [...headers.values()] };
}

function pathOf(place: SchemaPosition): string[] {
  const path: string[] = [];
  for (let at: SchemaPosition | undefined = place; at?.name !== undefined; at = at.parent) path.push(at.name);
  return path.reverse();
}

function faultOf(
  header: unknown,
  type: unknown,
  direct: boolean,
  taken: ReadonlyMap<string, unknown>,
): string | undefined {
  if (!direct) return "declares a header where no argument can be told by its path";
  if (typeof header !== "string" || !TOKEN.test(header))
    return "declares a header by a name that no header can have";
  if (!TYPES.includes(type)) return "declares a header and is neither a string, an integer nor a boolean";
  return taken.has(header.toLowerCase()) ? "declares a header that another argument has" : undefined;
}
