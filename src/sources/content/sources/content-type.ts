import { extname } from "node:path";

/** Content types by file extension. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ...[".md", ".markdown", ".mdx", ".mdown"].map((name) => [name, "text/markdown"] as const),
  ...[".txt", ".text", ".log", ".rst", ".adoc", ".org"].map((name) => [name, "text/plain"] as const),
  [".json", "application/json"],
  [".yaml", "application/yaml"],
  [".yml", "application/yaml"],
  [".toml", "application/toml"],
  [".xml", "application/xml"],
  [".html", "text/html"],
  [".htm", "text/html"],
  [".csv", "text/csv"],
  [".tsv", "text/tab-separated-values"],
  [".sql", "application/sql"],
  ...[".ts", ".tsx", ".mts", ".cts"].map((name) => [name, "application/typescript"] as const),
  ...[".js", ".jsx", ".mjs", ".cjs"].map((name) => [name, "application/javascript"] as const),
  ...[".py", ".rb", ".go", ".rs", ".java", ".kt", ".c", ".h", ".cpp", ".cs", ".php", ".sh", ".css"].map(
    (name) => [name, "text/x-code"] as const,
  ),
]);

/** Returns the content type for a file name. Default: plain text. */
export function contentTypeOf(fileName: string): string {
  return TYPES.get(extname(fileName).toLowerCase()) ?? "text/plain";
}

/** Decodes UTF-8 text. Returns undefined for binary data. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
