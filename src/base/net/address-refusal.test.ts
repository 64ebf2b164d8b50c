import { expect, test } from "vitest";
import { addressRefusal, namedAddressRefusal } from "./guarded-fetch.ts";

/** Addresses, why no public host may have them, and why no allowed host may. */
test.each<[string, string | undefined, string | undefined]>([
  ["8.8.8.8", undefined, undefined],
  ["2606:4700::1111", undefined, undefined],
  ["2000::1", undefined, undefined],
  ["10.0.0.1", "is a private address", undefined],
  ["127.0.0.1", "is a loopback address", undefined],
  ["::1", "is a loopback address", undefined],
  ["100.64.0.1", "is a carrierGradeNat address", undefined],
  ["fd00::1", "is a uniqueLocal address", undefined],
  ["4000::1", "is not a global address", undefined],
  ["168.63.129.16", "is a metadata service", "is a metadata service"],
  ["169.254.169.254", "is a linkLocal address", "is a linkLocal address"],
  ["fe80::1", "is a linkLocal address", "is a linkLocal address"],
  ["224.0.0.1", "is a multicast address", "is a multicast address"],
  ["ff02::1", "is a multicast address", "is a multicast address"],
  ["255.255.255.255", "is a broadcast address", "is a broadcast address"],
  ["0.0.0.0", "is a unspecified address", "is a unspecified address"],
  ["::", "is a unspecified address", "is a unspecified address"],
  ["240.0.0.1", "is a reserved address", "is a reserved address"],
  ["::ffff:8.8.8.8", "is a ipv4Mapped address", "is a ipv4Mapped address"],
  ["64:ff9b::808:808", "is a rfc6052 address", "is a rfc6052 address"],
  ["nonsense", "is not an address", "is not an address"],
  ["", "is not an address", "is not an address"],
])("%s: %s; by an allowed name: %s", (address, refusal, named) => {
  expect(addressRefusal(address)).toBe(refusal);
  expect(namedAddressRefusal(address)).toBe(named);
});
