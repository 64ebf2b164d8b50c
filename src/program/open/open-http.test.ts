import { expect, test } from "vitest";
import { allowedHosts } from "./open-http.ts";

const OWN = ["localhost", "127.0.0.1", "[::1]"];

test.each([
  [undefined, [], []],
  ["127.0.0.1", [], []],
  ["0.0.0.0", [], []],
  ["::", ["tools.example"], ["tools.example"]],
  ["192.168.1.7", [], ["192.168.1.7"]],
  ["fe80::1", ["Tools.Example"], ["[fe80::1]", "tools.example"]],
])("on %s with %j, clients may use this machine's names and %j", (host, given, more) => {
  expect(allowedHosts(host, given)).toEqual([...OWN, ...more]);
});

test.each(["tools.example:8080", "http://tools.example", "a/b", "", "user@host"])("%j is no host", (name) => {
  expect(() => allowedHosts("0.0.0.0", [name])).toThrow("--allow-host");
});
