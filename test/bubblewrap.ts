import { isolationFault } from "../src/sources/isolation/isolation.ts";

/** Why programs cannot be isolated on this machine; undefined if they can. Printed once for each test file. */
export async function isolationMissing(): Promise<string | undefined> {
  const fault = await isolationFault();
  if (fault !== undefined) console.warn(`Tests of isolation are skipped: ${fault}.`);
  return fault;
}
