import { type LookupAddress, lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { problem } from "../schema/problem.ts";

/**
 * Wraps a lookup so that the dialler only gets addresses that passed the check. The checked address is the one
 * that is dialled, so a name that resolves differently a moment later gains nothing.
 */
export function guardedLookup(
  refusalOf: (address: string) => string | undefined,
  lookup: LookupFunction = systemLookup as LookupFunction,
): LookupFunction {
  return (host, options, done) => {
    lookup(host, options, (error, found, family) => {
      if (error) return done(error, found, family);
      for (const address of addressesOf(found)) {
        const refusal = refusalOf(address);
        if (refusal === undefined) continue;
        const reason = `its address ${address} ${refusal}`;
        return done(problem("REQUEST_REFUSED", { where: host, reason }), found, family);
      }
      done(null, found, family);
    });
  };
}

function addressesOf(found: string | LookupAddress[]): string[] {
  return typeof found === "string" ? [found] : found.map(({ address }) => address);
}
