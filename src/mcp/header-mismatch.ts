import { type ArgumentHeader, readArgumentHeaders } from "../schema/argument-headers.ts";
import type { Entry } from "../schema/entry.ts";
import { field } from "../util/fields.ts";
import { oncePer } from "../util/once-per.ts";

const CODE = -32_020;
const BASE64 = /^=\?base64\?(.*)\?=$/s;
const DECIMAL = /^-?\d{1,32}(?:\.\d{1,32})?$/;

/** Refuses a request whose header names another method than its body, because limits go by the header. */
export function methodMismatch(body: unknown, headers: Headers): Response | undefined {
  const said = headers.get("mcp-method");
  if (said === null || said === field(body, "method")) return undefined;
  return refuse(body, "Mcp-Method", "it names another method");
}

/**
 * Refuses a call whose headers do not repeat its arguments as the tool's schema demands. A proxy that routes by the
 * headers and the server that runs the body must see the same call.
 */
export function headerMismatch(
  body: unknown,
  headers: Headers,
  tools: ReadonlyMap<string, Entry>,
): Response | undefined {
  if (field(body, "method") !== "tools/call") return undefined;
  const params = field(body, "params");
  const entry = tools.get(String(field(params, "name")));
  for (const { name, path, type } of entry ? headersOf(entry.inputSchema) : []) {
    const value = path.reduce(field, field(params, "arguments"));
    if (!["string", "number", "boolean"].includes(typeof value)) continue;
    const header = `Mcp-Param-${name}`;
    const given = headers.get(header);
    if (given === null) return refuse(body, header, "it is missing, but the argument is present");
    const said = decode(given);
    if (said === undefined) return refuse(body, header, "it is not Base64 of UTF-8");
    const isSame = type === "integer" && DECIMAL.test(said) ? Number(said) === value : said === String(value);
    if (!isSame) return refuse(body, header, "it differs from the argument");
  }
  return undefined;
}

/** Whether a tool wants arguments repeated in headers. */
export function wantsHeaders(entry: Entry): boolean {
  return headersOf(entry.inputSchema).length > 0;
}

const headersOf = oncePer((schema: object): readonly ArgumentHeader[] => {
  const read = readArgumentHeaders(schema);
  // Clients drop a tool that declares its headers wrongly, so there is nothing to compare.
  return read.ok ? read.headers : [];
});

/** Decodes Base64, which carries values that a header cannot hold. */
function decode(given: string): string | undefined {
  const encoded = BASE64.exec(given)?.[1];
  if (encoded === undefined) return given;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refuse(body: unknown, header: string, reason: string): Response {
  const message = `The header ${header} does not match the body: ${reason}.`;
  const id = field(body, "id") ?? null;
  return Response.json(
    { jsonrpc: "2.0", id, error: { code: CODE, message, data: { header } } },
    { status: 400 },
  );
}
