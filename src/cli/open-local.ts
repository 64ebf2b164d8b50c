import type { Approval } from "../calls/call-environment.ts";
import type { ApprovalRequest } from "../calls/decide-call.ts";
import { createGateway } from "../gateway.ts";
import type { Words } from "../schema/say.ts";
import { callOperation } from "../toolbox.ts";
import { toVisibleLine, toVisibleText } from "../util/visible-text.ts";
import { askYesOrNo } from "./confirm.ts";
import { listServers } from "./list-servers.ts";
import { closeAudit, localUser, openAudit } from "./open-audit.ts";
import { openFilledConfig } from "./open-config.ts";
import { openLearning } from "./open-learning.ts";
import type { Operator } from "./operator.ts";
import { cacheFolder, recipesFolder } from "./user-folders.ts";

export interface LocalOptions {
  readonly config: string | undefined;
  readonly profile: string | undefined;
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

/** A gateway for one command, over the config. */
export async function openLocal({
  config,
  profile,
  trust,
  allowWrite,
  isAsked,
}: LocalOptions): Promise<Operator> {
  const { options, loaded } = await openFilledConfig({ config, profile, trust });
  for (const { message } of loaded.problems) console.error(toVisibleText(message));
  const audit = openAudit(loaded.settings.audit);
  const gateway = createGateway({
    ...(audit && { audit }),
    learning: openLearning(loaded.settings.learning),
    cacheDirectory: cacheFolder(),
    recipes: recipesFolder(),
    ...options,
    // A person who can be asked may write: every call that writes asks first.
    principal: { id: "local", scopes: [], ...options.principal, allowWrite: allowWrite || isAsked },
  });
  // A command that runs once would otherwise answer before a new server has said what it offers.
  const failures = await listServers(gateway, ({ newest, isFresh }) => newest === undefined && !isFresh);
  for (const reason of failures.values()) console.error(toVisibleText(reason));
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

async function askPerson({ op, args }: ApprovalRequest): Promise<Approval> {
  const lines = JSON.stringify(args, null, 2).split("\n").map(toVisibleLine);
  console.error(lines.join("\n"));
  const agreed = await askYesOrNo(`Run ${toVisibleLine(op)} with exactly this?`);
  return agreed ? { by: localUser() } : "declined";
}
