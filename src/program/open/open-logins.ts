import { join } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { knowSecrets } from "../../base/safety/known-secrets.ts";
import type { OpenStorage } from "../../base/util/storage.ts";
import { openSqliteStorage } from "../../core/storage/sql-storage.ts";
import { expandVariables, type LaunchVariables } from "../../sources/mcp/config/to-launch.ts";
import { createLoginLinks } from "../../sources/mcp/login/login-links.ts";
import { createLogins, type SealKey } from "../../sources/mcp/login/logins.ts";
import type { McpSourceOptions } from "../../sources/mcp/source-options.ts";
import { reasonWhy } from "../clients/edit-config.ts";
import type { Settings } from "./settings-schema.ts";
import { setStateFolder } from "./user-folders.ts";

type OpenedLogins = Pick<McpSourceOptions, "logins" | "links">;

/** Shorter secrets could be guessed by whoever has a copy of the store. */
const LEAST_CHARS = 16;

/** By place and keys, because the configs of a process share them: links of one must open at the other. */
const opened = new Map<string | OpenStorage, Map<string, OpenedLogins>>();

/**
 * Opens the logins to servers: those that all share, and, where the settings have a `sealKey`, those of each person with
 * the links by which they log in. Without a storage they are in the state folder.
 *
 * @throws CONFIG_INVALID if the `sealKey` cannot be used.
 */
export function openLogins(
  { sealKey }: Pick<Settings, "sealKey">,
  variables: LaunchVariables,
  storage?: OpenStorage,
): OpenedLogins {
  const keys = [sealKey ?? []].flat().map((text) => readKey(text, variables));
  knowSecrets(keys);
  const path = join(setStateFolder(), "keyhole.db");
  const place = storage ?? path;
  const here = opened.get(place) ?? new Map<string, OpenedLogins>();
  opened.set(place, here);
  const known = here.get(JSON.stringify(keys));
  if (known) return known;
  const key = keys.length === 0 ? undefined : (keys as unknown as SealKey);
  const logins = createLogins({ ...(storage ? { storage } : { path }), sealKey: key });
  const links = key && createLoginLinks({ storage: storage ?? openSqliteStorage(path).open, sealKey: key });
  const made = { logins, ...(links && { links }) };
  here.set(JSON.stringify(keys), made);
  return made;
}

function readKey(text: string, variables: LaunchVariables): string {
  const wrong = (reason: string) =>
    problem("CONFIG_INVALID", {
      path: "sealKey",
      reason,
      step: `Set it to a secret text of at least ${LEAST_CHARS} characters, such as "\${KEYHOLE_SEAL_KEY}".`,
    });
  let key: string;
  try {
    key = expandVariables("sealKey", text, variables);
  } catch (error) {
    throw wrong(reasonWhy(error));
  }
  if (key.length < LEAST_CHARS) throw wrong(`it has fewer than ${LEAST_CHARS} characters`);
  return key;
}
