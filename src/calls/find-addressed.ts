import type { Entry } from "../schema/entry.ts";
import { readTextParams } from "./read-text-params.ts";

export interface Addressed {
  readonly entry: Entry;
  /** Params from the query string of the address. */
  readonly params?: Record<string, unknown>;
}

/** Finds the entry of an address: the whole address, or the part before its query string, which gives params. */
export function findAddressed(
  address: string,
  find: (address: string) => Entry | undefined,
): Addressed | undefined {
  const whole = find(address);
  if (whole) return { entry: whole };
  const mark = address.indexOf("?");
  const entry = mark < 0 ? undefined : find(address.slice(0, mark));
  if (!entry) return undefined;
  const given = new URLSearchParams(address.slice(mark + 1));
  return { entry, params: readTextParams(entry.inputSchema, given) };
}
