import type { Entry } from "../schema/entry.ts";
import { readTextParams } from "./read-text-params.ts";

export interface Addressed {
  readonly entry: Entry;
  /** What a query string at the end of the address spells. */
  readonly params?: Record<string, unknown>;
}

/** The entry that an address names: as it is, or without a query string, which then gives params. */
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
