import { isProblem } from "../../base/problems/problem.ts";
import { countOf } from "../../base/util/count-of.ts";
import { examineDatabase, whyUnusable } from "../../postgres/state/examine.ts";
import { isJsonConfig } from "../open/config-files.ts";
import { loadSettings } from "../open/load-settings.ts";
import { databaseUrl, openDatabasePool } from "../open/open-state.ts";
import { withSecrets } from "../open/secrets.ts";
import type { Settings } from "../open/settings-schema.ts";
import { type Finding, problemWith } from "./check-state.ts";

const ABOUT = "state.postgres";

/** Looks at the database that a config names, without a change: what is wrong with it, or a sentence about it. */
export async function checkDatabase(
  config: string | undefined,
): Promise<{ readonly findings: readonly Finding[]; readonly sentence?: string }> {
  const { settings } = await loadSettings({ config: isJsonConfig(config) ? config : undefined });
  if (!settings.state) return { findings: [] };
  try {
    const seen = await look(settings.state);
    if ("reason" in seen) return { findings: [problemWith(ABOUT, seen.reason, seen.step)] };
    const tables = seen.tables === 0 ? "no tables yet" : `tables of version ${seen.tables}`;
    const alive = countOf(seen.gateways, "gateway");
    return {
      findings: [],
      sentence: `PostgreSQL ${seen.server}, a primary that may be written: ${tables}, ${alive} alive.`,
    };
  } catch (error) {
    if (!isProblem(error)) throw error;
    return { findings: [problemWith(ABOUT, error.message, error.next)] };
  }
}

async function look(state: NonNullable<Settings["state"]>) {
  const client = await openDatabasePool(databaseUrl(state, withSecrets(process.env)), 1);
  try {
    return (await whyUnusable(client)) ?? (await examineDatabase(client, state.table ?? "keyhole"));
  } finally {
    await client.end().catch(() => {});
  }
}
