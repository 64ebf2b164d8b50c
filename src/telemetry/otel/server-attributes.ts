import type { Attributes } from "./otlp.ts";

/** `server.address` and `server.port` of an address; none if it cannot be read. */
export function serverAttributes(url: string | undefined): Attributes {
  const read = url === undefined ? null : URL.parse(url);
  if (!read) return {};
  const port = read.port || (read.protocol === "https:" ? "443" : "80");
  return { "server.address": read.hostname, "server.port": Number(port) };
}
