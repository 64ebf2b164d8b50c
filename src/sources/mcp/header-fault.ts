import { field, fieldsOf, isFields } from "../../util/fields.ts";

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

interface Place {
  readonly node: unknown;
  /** The argument, or the one around it; none where it is the schema itself. */
  readonly name?: string;
  /** Whether only `properties` lead to it, so that an argument can be told by its path. */
  readonly direct: boolean;
}

/**
 * What is wrong with the headers that a tool's input schema wants arguments repeated in. Over HTTP a client must
 * leave such a tool out: what the server would compare with its arguments cannot be known.
 */
export function headerFault(schema: unknown): string | undefined {
  const taken = new Set<string>();
  const pending: Place[] = [{ node: schema, direct: true }];
  // A list of open places instead of recursion: definitions may be nested deeper than the stack.
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { node, direct, ...where } = at;
    if (!isFields(node)) continue;
    if (Object.hasOwn(node, HEADER)) {
      const header = node[HEADER];
      const fault = faultOf(header, field(node, "type"), direct && where.name !== undefined, taken);
      if (fault !== undefined) return `${where.name ?? "its schema"} ${fault}`;
      taken.add(String(header).toLowerCase());
    }
    for (const [name, child] of entriesOf(node, "properties")) pending.push({ node: child, name, direct });
    const elsewhere = [
      ...SINGLE.flatMap((key) => field(node, key) ?? []),
      ...NAMED.flatMap((key) => entriesOf(node, key).map(([, child]) => child)),
    ];
    for (const child of elsewhere) pending.push({ node: child, ...where, direct: false });
  }
  return undefined;
}

function faultOf(
  header: unknown,
  type: unknown,
  direct: boolean,
  taken: ReadonlySet<string>,
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
