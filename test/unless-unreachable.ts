import { RegistryUnreachable } from "../scripts/tool.ts";

/** Uses a tool of `tools/`. Prints why its tests are skipped if npm cannot fetch it now. */
export async function unlessUnreachable<Value>(use: () => Value): Promise<Awaited<Value> | undefined> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof RegistryUnreachable)) throw error;
    console.warn(`Tests are skipped: ${error.message}`);
    return undefined;
  }
}
