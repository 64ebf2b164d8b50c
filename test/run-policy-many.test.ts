import type { Sandbox } from "../src/core/sandbox/sandbox.ts";
import { verifies } from "./claims.ts";
import { checkRandomScripts } from "./run-policy-kit.ts";

const AsyncFunction = (async () => {}).constructor as FunctionConstructor;

// The sandbox decides nothing about calls. Without its threads, thousands of scripts take seconds.
const inProcess: Sandbox = {
  run: async ({ code }, host) => {
    let number = 0;
    const request = (kind: string) => (address: string, args: unknown) =>
      new Promise((resolve, reject) => {
        number += 1;
        host.request({ kind, address, args }, number, ({ ok, value }) =>
          ok ? resolve(value) : reject(value),
        );
      });
    const value = await new AsyncFunction("call", "get", code)(request("call"), request("get"));
    return { end: { end: "returned", json: JSON.stringify(value ?? null) }, logs: [], misses: [] };
  },
  close: async () => {},
};

verifies("run:policy", "5,000 random scripts do what the policy allows, and nothing else", () =>
  checkRandomScripts(5_000, inProcess),
);
