import { type Problem, problem } from "../../schema/problem.ts";

export type HttpEmbedderKind = "openai" | "ollama";

const PATHS = { openai: ["/v1", "/embeddings"], ollama: ["/api", "/embed"] } as const;

/** The address to post to: `https://host`, `https://host/v1` and the full path all lead there. */
export function endpointOf(kind: HttpEmbedderKind, address: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw refused("its url must be an http or https address");
  }
  if (url.username !== "" || url.password !== "") {
    throw refused("its url must not hold a user name or password; use apiKey");
  }
  const path = url.pathname.replace(/\/$/, "");
  const [first, last] = PATHS[kind];
  if (path.endsWith(last)) url.pathname = path;
  else url.pathname = path.endsWith(first) ? `${path}${last}` : `${path}${first}${last}`;
  return url;
}

export function requestBody(
  kind: HttpEmbedderKind,
  model: string,
  input: readonly string[],
  dimensions: number | undefined,
): string {
  const format = kind === "openai" ? { encoding_format: "float" } : { truncate: true };
  return JSON.stringify({ model, input, ...format, ...(dimensions === undefined ? {} : { dimensions }) });
}

/** The vectors in the order of the texts, or what is wrong with the answer. */
export function readVectors(kind: HttpEmbedderKind, answer: unknown, count: number): Float32Array[] | string {
  const rows = kind === "openai" ? openAiRows(answer) : field(answer, "embeddings");
  if (!Array.isArray(rows)) return "its answer has no embeddings";
  if (rows.length !== count) return `it answered ${rows.length} vectors for ${count} texts`;
  const vectors: Float32Array[] = [];
  for (const row of rows) {
    if (!Array.isArray(row) || row.length === 0) return "one of its vectors is missing or empty";
    const vector = Float32Array.from(row, (value) => (typeof value === "number" ? value : Number.NaN));
    if (!vector.every(Number.isFinite)) return "one of its vectors holds something that is not a number";
    vectors.push(vector);
  }
  return vectors;
}

/** The items say their own position, and servers need not keep to the order. */
function openAiRows(answer: unknown): unknown[] | undefined {
  const items = field(answer, "data");
  if (!Array.isArray(items)) return undefined;
  const rows = Array.from<unknown>({ length: items.length });
  for (const [place, item] of items.entries()) {
    const index = field(item, "index") ?? place;
    if (typeof index === "number" && index in rows) rows[index] = field(item, "embedding");
  }
  return rows;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function refused(reason: string): Problem {
  return problem("INVALID_INPUT", { operation: "the HTTP embedder", reason });
}
