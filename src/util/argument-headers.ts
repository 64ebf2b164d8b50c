import { field, fieldsOf, isFields } from "./fields.ts";

const HEADER = "x-mcp-header";
/** A name that can stand in a header (RFC 9110). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];

/** Where else in a schema there are schemas, one or a list of them, and where there are some by name. */
const SINGLE = [
  ...[
    "items",
    "prefixItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
  ],
  ...["propertyNames", "oneOf", "anyOf", "allOf", "not", "if", "then", "else"],
];
const NAMED = ["patternProperties", "dependentSchemas", "$defs", "definitions"];

/** An argument that the newer protocol has repeated in a header over HTTP, because its schema says so. */
export interface ArgumentHeader {
  readonly path: readonly string[];
  readonly name: string;
  readonly type: string;
}

export type ArgumentHeaders =
  | { readonly ok: true; readonly headers: readonly ArgumentHeader[] }
  | { readonly ok: false; readonly reason: string };

interface Place {
  readonly node: unknown;
  /** The argument, or the one around it; none where it is the schema itself. */
  readonly name?: string;
  readonly parent?: Place;
  /** Whether only `properties` lead to it, so that an argument can be told by its path. */
  readonly direct: boolean;
}

/** The headers that a tool's input schema wants arguments repeated in, or what is wrong with them. */
export function readArgumentHeaders(schema: unknown): ArgumentHeaders {
  const headers = new Map<string, ArgumentHeader>();
  const pending: Place[] = [{ node: schema, direct: true }];
  // A list of open places instead of recursion: definitions may be nested deeper than the stack.
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { node, direct, name } = at;
    if (!isFields(node)) continue;
    if (Object.hasOwn(node, HEADER)) {
      const [header, type] = [node[HEADER], field(node, "type")];
      const fault = faultOf(header, type, direct && name !== undefined, headers);
      if (fault !== undefined) return { ok: false, reason: `${name ?? "its schema"} ${fault}` };
      const told = { path: pathOf(at), name: String(header), type: String(type) };
      headers.set(told.name.toLowerCase(), told);
    }
    for (const [key, child] of entriesOf(node, "properties"))
      pending.push({ node: child, name: key, parent: at, direct });
    const elsewhere = [
      ...SINGLE.flatMap((key) => field(node, key) ?? []),
      ...NAMED.flatMap((key) => entriesOf(node, key).map(([, child]) => child)),
    ];
    for (const child of elsewhere)
      pending.push({ node: child, ...(name !== undefined && { name }), direct: false });
  }
  return { ok: true, headers: [...headers.values()] };
}

function pathOf(place: Place): string[] {
  const path: string[] = [];
  for (let at: Place | undefined = place; at?.name !== undefined; at = at.parent) path.push(at.name);
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

function entriesOf(node: unknown, key: string): [string, unknown][] {
  return Object.entries(fieldsOf(field(node, key)));
}
