/** Facts read from an error, whichever library threw it. */
export interface ErrorFacts {
  readonly status?: number;
  /** Names of the kind of error, from provider, network layer and SDK; the most specific first. */
  readonly types: readonly string[];
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The provider's `retryAfter` field, in seconds. */
  readonly retryAfter?: number;
}

type Fields = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 6;
const MAX_BODY_CHARS = 20_000;
const TYPE_FIELDS = ["reason", "code", "type", "status", "name"];
const STATUS_FIELDS = ["statusCode", "status"];
const INNER_FIELDS = ["data", "error", "details", "lastError", "cause"];

/** Reads an error and the errors inside it, because SDKs wrap those of providers and the network layer. */
export function errorFacts(error: unknown): ErrorFacts {
  const layers = layersOf(error, 0);
  const status = layers.flatMap((layer) => pick(layer, STATUS_FIELDS, isNumber))[0];
  const retryAfter = layers.flatMap((layer) => pick(layer, ["retryAfter"], isNumber))[0];
  return {
    ...(status === undefined ? {} : { status }),
    types: layers.toReversed().flatMap((layer) => pick(layer, TYPE_FIELDS, isString)),
    message: typeof error === "string" ? error : (messageIn(layers) ?? "no reason given"),
    headers: Object.assign({}, ...layers.toReversed().map(headersOf)),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

/** The error, then the errors inside it, outermost first. */
function layersOf(value: unknown, depth: number): Fields[] {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.slice(0, MAX_DEPTH).flatMap((part) => layersOf(part, depth + 1));
  const fields = value as Fields;
  const body = depth === 0 ? layersOf(parsedBody(fields), depth + 1) : [];
  return [fields, ...INNER_FIELDS.flatMap((name) => layersOf(fields[name], depth + 1)), ...body];
}

function parsedBody({ responseBody, data }: Fields): unknown {
  if (typeof responseBody !== "string" || typeof data === "object") return undefined;
  try {
    return JSON.parse(responseBody.slice(0, MAX_BODY_CHARS));
  } catch {
    return undefined;
  }
}

function messageIn(layers: readonly Fields[]): string | undefined {
  return layers.flatMap((layer) => pick(layer, ["message"], isString)).find((text) => text.trim() !== "");
}

function headersOf(layer: Fields): Record<string, string> {
  const given = layer.responseHeaders ?? layer.headers;
  if (given instanceof Headers) return Object.fromEntries(given);
  if (typeof given !== "object" || given === null) return {};
  const pairs = Object.entries(given).filter((pair): pair is [string, string] => isString(pair[1]));
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

function pick<T>(layer: Fields, names: readonly string[], fits: (value: unknown) => value is T): T[] {
  return names.map((name) => layer[name]).filter(fits);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
