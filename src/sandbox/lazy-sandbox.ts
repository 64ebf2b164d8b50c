import { lazy } from "../util/lazy.ts";
import type { Sandbox } from "./sandbox.ts";

/** A sandbox that loads with its first script. */
export function createLazySandbox(): Sandbox {
  let used = false;
  const load = lazy(async () => {
    used = true;
    const { createSandbox } = await import("./create-sandbox.ts");
    return createSandbox();
  });
  return {
    run: async (script, host, options) => (await load()).run(script, host, options),
    close: async () => {
      if (used) await (await load()).close();
    },
  };
}
