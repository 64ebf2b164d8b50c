import ipaddr from "ipaddr.js";

/** Metadata services of cloud hosts whose addresses lie in public ranges. */
const METADATA = new Set(["168.63.129.16"]);
const GLOBAL_V6 = "2000::/3";
/** Ranges that stay refused for allowed hosts: nobody runs an API there. */
const NEVER_BY_NAME = new Set([
  "linkLocal",
  "multicast",
  "broadcast",
  "unspecified",
  "reserved",
  "ipv4Mapped",
  "rfc6052",
]);

/** Returns why an address is not on the public internet, or undefined if it is. */
export function addressRefusal(address: string): string | undefined {
  const parsed = parse(address);
  if (parsed === undefined) return "is not an address";
  if (METADATA.has(address)) return "is a metadata service";
  const range = parsed.range();
  if (range !== "unicast") return `is a ${range} address`;
  if (parsed.kind() === "ipv6" && !parsed.match(ipaddr.parseCIDR(GLOBAL_V6)))
    return "is not a global address";
  return undefined;
}

/** Returns why an allowed host may not resolve to the address, or undefined if it may. */
export function namedAddressRefusal(address: string): string | undefined {
  const parsed = parse(address);
  if (parsed === undefined || METADATA.has(address)) return addressRefusal(address);
  return NEVER_BY_NAME.has(parsed.range()) ? `is a ${parsed.range()} address` : undefined;
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  try {
    return ipaddr.parse(address);
  } catch {
    return undefined;
  }
}
