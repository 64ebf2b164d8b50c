import { homedir } from "node:os";
import type { Approval } from "../calls/call-environment.ts";
import type { ApprovalRequest } from "../calls/decide-call.ts";
import { DEFAULT_CONFIGS } from "../config/default-configs.ts";
import { loadSettings } from "../config/load-settings.ts";
import { createGateway } from "../gateway.ts";
import { problem } from "../schema/problem.ts";
import type { Words } from "../schema/say.ts";
import { callOperation } from "../toolbox.ts";
import { toVisibleText } from "../util/visible-text.ts";
import { settingsServers } from "./configured-servers.ts";
import { askYesOrNo } from "./confirm.ts";
import { loadAnyConfig } from "./load-config.ts";
import { closeAudit, localUser, openAudit } from "./open-audit.ts";
import { openPins } from "./open-pins.ts";
import type { Operator } from "./operator.ts";
import { askForTrust } from "./trust-folder.ts";
import { cacheFolder, recipesFolder } from "./user-folders.ts";

export interface LocalOptions {
  readonly config: string | undefined;
  readonly trust: boolean;
  /** Runs tools that write without asking. */
  readonly allowWrite: boolean;
  /** Whether a person can be asked. */
  readonly isAsked: boolean;
}

const WORDS: Words = {
  ask: "keyhole ask",
  help: "keyhole help",
  get: "keyhole get",
  exec: "keyhole exec",
  batch: "keyhole batch",
  params: "name=value",
  dry_run: "--dry-run",
};

/** A gateway for one command, over the config and the servers of the settings. */
export async function openLocal({ config, trust, allowWrite, isAsked }: LocalOptions): Promise<Operator> {
  const folder = process.cwd();
  const trusted = config === undefined && (await askForTrust(folder));
  const loaded = await loadSettings({ project: folder });
  for (const { message } of loaded.problems) console.error(toVisibleText(message));
  const options = await loadAnyConfig(config, trusted, { trusted: trust });
  const servers = settingsServers(loaded, { home: homedir(), project: folder }, trust);
  const { principal, sources: named = [] } = options;
  const sources = [...named, ...servers.filter(({ id }) => !named.some((one) => one.id === id))];
  if (options.domains.length + sources.length === 0) throw nothingToOpen();
  const audit = openAudit(loaded.settings.audit);
  const gateway = createGateway({
    pins: openPins(),
    ...(audit && { audit }),
    cacheDirectory: cacheFolder(),
    recipes: recipesFolder(),
    ...options,
    sources,
    // A person who can be asked may write: every call that writes asks first.
    principal: { id: "local", scopes: [], ...principal, allowWrite: allowWrite || isAsked },
  });
  return {
    call: (operation, input) =>
      callOperation(
        gateway,
        { operation, input },
        {
          words: WORDS,
          approve: isAsked ? askPerson : () => false,
          policy: { asks: allowWrite ? "confirmed" : "writes" },
        },
      ),
    close: async () => {
      await gateway.close();
      await closeAudit(audit);
    },
  };
}

function nothingToOpen() {
  const reason = "the file does not exist, and the settings name no servers";
  return problem("CONFIG_INVALID", { path: DEFAULT_CONFIGS[0]!, reason });
}

async function askPerson({ op, args }: ApprovalRequest): Promise<Approval> {
  const lines = toVisibleText(JSON.stringify(args, null, 2)).split("\n");
  console.error(lines.join("\n"));
  const agreed = await askYesOrNo(`Run ${toVisibleText(op)} with exactly this?`);
  return agreed ? { by: localUser() } : "declined";
}
