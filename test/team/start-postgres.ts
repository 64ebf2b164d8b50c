import { execFileSync } from "node:child_process";

/** A PostgreSQL server of this test, or the one of `KEYHOLE_POSTGRES_URL`. */
export interface TestDatabase {
  readonly url: string;
  stop(): void;
}

const SCRIPT = "scripts/start-postgres.sh";
export const NO_POSTGRES = "skipped: scripts/start-postgres.sh gives no PostgreSQL here";

/** Undefined where there is none; the script says why on stderr. */
export function startPostgres(): TestDatabase | undefined {
  const given = process.env.KEYHOLE_POSTGRES_URL;
  if (given) return { url: given, stop: () => {} };
  const url = execFileSync(SCRIPT, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
  return url === "" ? undefined : { url, stop: () => execFileSync(SCRIPT, ["--stop", url]) };
}
