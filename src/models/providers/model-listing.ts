import { isFields } from "../../util/fields.ts";

/** How to ask a server for the models that it has. */
export interface ModelListing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The address that the owner configured, which may be private. */
  readonly ownUrl?: string | undefined;
  /** Reads the names in the server's answer. */
  namesIn(body: unknown): string[];
}

/** The list of a server that speaks OpenAI's API, such as Ollama. */
export function compatibleListing(
  baseUrl: string,
  headers: Readonly<Record<string, string>>,
  ownUrl: string | undefined,
): ModelListing {
  return {
    url: `${baseUrl.replace(/\/+$/, "")}/models`,
    headers,
    ownUrl,
    namesIn: (body) => textsOf(listOf(body, "data"), "id"),
  };
}

/** The rows of an answer. */
export function listOf(body: unknown, field: string): readonly unknown[] {
  const rows = isFields(body) ? body[field] : body;
  return Array.isArray(rows) ? rows : [];
}

/** The texts that the rows have in a field. */
export function textsOf(rows: readonly unknown[], field: string): string[] {
  return rows.flatMap((row) => (isFields(row) && typeof row[field] === "string" ? [row[field]] : []));
}

export function bearer(key: string | undefined): Record<string, string> {
  return key ? { authorization: `Bearer ${key}` } : {};
}
