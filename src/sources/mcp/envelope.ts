import { type Fields, fieldsOf } from "../../util/fields.ts";

/** Copies of the SDK's keys, because the SDK is not loaded at the start. */
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const KEYS = [
  VERSION_KEY,
  "io.modelcontextprotocol/clientInfo",
  "io.modelcontextprotocol/clientCapabilities",
];

/** The part of a request's metadata that the newer protocol wants in every request. Undefined if it is missing. */
export function envelopeIn(meta: unknown): Fields | undefined {
  const given = fieldsOf(meta);
  if (!KEYS.every((key) => key in given)) return undefined;
  return Object.fromEntries(KEYS.map((key) => [key, given[key]]));
}
