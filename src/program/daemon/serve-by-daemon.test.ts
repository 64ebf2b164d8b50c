import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readRelayRequest } from "./serve-by-daemon.ts";

beforeEach(() => {
  vi.stubEnv("KEYHOLE_NO_DAEMON", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const PLAIN = {
  profile: undefined,
  surface: undefined,
  shortcut: [],
  trust: false,
  allowWrite: false,
};

test.each([
  [["--config", "a.json"], { ...PLAIN, config: "a.json" }],
  [["--config=a.json", "--trust"], { ...PLAIN, config: "a.json", trust: true }],
  [
    ["--profile", "work", "--config", "b.jsonc", "--allow-write", "--surface", "native"],
    { ...PLAIN, config: "b.jsonc", profile: "work", surface: "native", allowWrite: true },
  ],
  [
    ["--config", "a.json", "--shortcut", "a.b", "--shortcut=c.d", "--config", "last.json"],
    { ...PLAIN, config: "last.json", shortcut: ["a.b", "c.d"] },
  ],
])("reads the arguments of a client of the daemon: %j", (args, expected) => {
  expect(readRelayRequest(args)).toEqual(expected);
});

test.each([
  [["--config", "keyhole.config.ts"]],
  [["--config", "a.json", "--no-daemon"]],
  [["--config", "a.json", "--http"]],
  [["--config", "a.json", "--help"]],
  [["--config", "a.json", "-h"]],
  [["--config", "a.json", "--surface", "none"]],
  [["--config", "a.json", "--trust=yes"]],
  [["--config", "a.json", "word"]],
  [["--config", "--trust"]],
  [["--config"]],
  [["--confg", "a.json"]],
])("leaves everything else to the whole program: %j", (args) => {
  expect(readRelayRequest(args)).toBeUndefined();
});

test("KEYHOLE_NO_DAEMON leaves the client to the whole program", () => {
  vi.stubEnv("KEYHOLE_NO_DAEMON", "1");
  expect(readRelayRequest(["--config", "a.json"])).toBeUndefined();
});
