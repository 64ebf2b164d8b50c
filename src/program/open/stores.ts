import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { contentHash } from "../../base/util/content-hash.ts";
import { makeFolder } from "../../base/util/make-folder.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { type AcceptedLimits, createAcceptedLimits } from "../../core/access/accepted-limits.ts";
import { type Consents, createConsents } from "../../core/access/consents.ts";
import { type GrantKind, type Grants, openGrants } from "../../core/access/grants.ts";
import { createPinsOver, type Pins } from "../../core/access/pins.ts";
import { createUsage, type PeopleUsage } from "../../core/access/usage.ts";
import { createWaitingCalls, type WaitingCalls } from "../../core/access/waiting-calls.ts";
import type { AuditEvent } from "../../core/audit/audit-store.ts";
import { createFileAuditStore } from "../../core/audit/file-audit-store.ts";
import type { AuditOptions } from "../../core/calls/auditor.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import { openSqliteStorage } from "../../core/storage/sql-storage.ts";
import type { GatewayOptions } from "../../gateway/gateway-api.ts";
import { createEmbeddedIndex } from "../../search/embedded-index.ts";
import type { SearchIndex } from "../../search/port/search-index.ts";
import { createStaticEmbedder } from "../../search/vectors/static-embedder.ts";
import { createAgentTokens } from "./agent-tokens.ts";
import type { ProgramState } from "./open-state.ts";
import { openPersonGrants } from "./person-grants.ts";
import type { Settings } from "./settings-schema.ts";
import { cacheFolder, setStateFolder } from "./user-folders.ts";

type RecordedDecision = Extract<AuditEvent, { what: string }>;

/** Grants of the state that a config names, or those of the person. */
function grantsOf<K extends GrantKind>(kind: K, state: ProgramState | undefined): Grants<K> {
  return state ? openGrants(state.records, kind) : openPersonGrants(kind);
}

/** Opens approvals. Those of a shared state are read first, and calls fail while they cannot be read. */
export async function openPins(state?: ProgramState): Promise<Pins> {
  const grants = grantsOf("definition", state);
  if (state) await grants.refresh();
  return createPinsOver(grants, { strict: state !== undefined });
}

/** Opens the calls that wait for the person, which all commands share. */
export function openWaitingCalls(state?: ProgramState): WaitingCalls {
  return createWaitingCalls(grantsOf("call", state));
}

/** Opens the limits of servers that the person has accepted, which all commands share. */
export async function openAcceptedLimits(state?: ProgramState): Promise<AcceptedLimits> {
  const grants = grantsOf("limits", state);
  if (state) await grants.refresh();
  return createAcceptedLimits(grants);
}

export function openTokens(state?: ProgramState) {
  return createAgentTokens(grantsOf("agent", state));
}

/** Opens the consents to start servers that all commands share. The audit log records each. */
export function openConsents(state?: ProgramState) {
  const grants = grantsOf("program", state);
  const consents = createConsents<boolean | Promise<boolean>>(grants);
  const opened: Consents<boolean | Promise<boolean>> = {
    isGiven: (program) => {
      const isGiven = consents.isGiven(program);
      // Sources also ask while they are made, and nobody waits for that answer.
      if (isGiven instanceof Promise) isGiven.catch(() => {});
      return isGiven;
    },
    give: async (programs, by) => {
      await consents.give(programs);
      await recordDecisions("allowed", "server", programs.map(toDecision), { state, by });
    },
    revoke: async (programs) => {
      const answers = await Promise.all(programs.map(consents.isGiven));
      const given = programs.filter((_, index) => answers[index]);
      const count = await consents.revoke(given);
      await recordDecisions("revoked", "server", given.map(toDecision), { state });
      return count;
    },
  };
  return {
    ...opened,
    /** Reads all consents. Then `wasGiven` answers at once, as of that reading. */
    read: async () => void (await grants.refresh()),
    wasGiven: ({ hash }: ServerProgram) => grants.get(hash) !== undefined,
  };
}

function toDecision({ label, hash }: ServerProgram) {
  return { name: label, digest: hash };
}

/** Opens the counts of use by person, server and tool, which all gateways of a state share. */
export function openUsage(limits: Settings["limits"], state?: ProgramState): PeopleUsage {
  const file = state ? undefined : openSqliteStorage(join(setStateFolder(), "usage.db"));
  const usage = createUsage({ open: state?.storage ?? file!.open, ...limits });
  return { ...usage, close: () => usage.close().finally(() => file?.close()) };
}

/** The folder of large results for clients that read files. No isolated server sees it. */
export function resultsFolder(): string {
  return join(setStateFolder(), "results");
}

/** The file of what was learned, which all commands share. */
export function learningFile(): string {
  return join(setStateFolder(), "learning.db");
}

/** How the program learns from use: what it has learned outlives the process unless the settings switch it off. */
export function openLearning(
  { enabled, shared }: Settings["learning"],
  state?: ProgramState,
): GatewayOptions["learning"] & {} {
  return enabled ? { log: state?.storage ?? learningFile(), shared } : false;
}

/** A search index that is kept between starts under this key. Unchanged entries are not indexed again. */
export function openIndex(key: readonly string[]): SearchIndex {
  const folder = join(cacheFolder(), "indexes");
  try {
    makeFolder(folder);
  } catch {
    // Without the folder the index cannot be kept, which costs the next start some time and nothing else.
  }
  const snapshot = join(folder, `${contentHash(key).slice(0, 16)}.bin`);
  const index = createEmbeddedIndex({ embedder: createStaticEmbedder(), snapshot });
  // A missing snapshot is reported. The first start has none.
  return existsSync(snapshot) ? index : Object.assign(index, { restore: async () => ({}) });
}

export function auditFolder(): string {
  return join(setStateFolder(), "audit");
}

/** Opens the audit log. Undefined if the settings switch it off. */
export function openAudit(
  { enabled, failClosed, sync }: Settings["audit"],
  state?: ProgramState,
): AuditOptions | undefined {
  if (!enabled) return undefined;
  return { store: state?.audit ?? createFileAuditStore({ path: auditFolder(), sync }), failClosed };
}

/** Opens the audit log of the settings files. Settings that cannot be read leave it as it is by default. */
export async function openConfiguredAudit(state?: ProgramState): Promise<AuditOptions | undefined> {
  try {
    const { loadSettings } = await import("./load-settings.ts");
    return openAudit((await loadSettings()).settings.audit, state);
  } catch (error) {
    console.error(`The audit log is kept with default settings: ${reasonOf(error)}`);
    return openAudit({ enabled: true, failClosed: false, sync: "second" }, state);
  }
}

/** Writes the waiting records. A failure is printed. */
export async function closeAudit(audit: AuditOptions | undefined): Promise<void> {
  await audit?.store.close().catch((error: unknown) => console.error(reasonOf(error)));
}

/** The name of the person at the terminal. */
export function localUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/** Records that the person allowed things or took that back. A failure is printed; the decision stands. */
export async function recordDecisions(
  kind: RecordedDecision["kind"],
  what: RecordedDecision["what"],
  decided: readonly Pick<RecordedDecision, "name" | "digest">[],
  { by, state }: { readonly by?: string | undefined; readonly state?: ProgramState | undefined } = {},
): Promise<void> {
  if (decided.length === 0) return;
  const audit = await openConfiguredAudit(state);
  if (!audit) return;
  const principal = localUser();
  const actor = by ?? principal;
  for (const { name, digest } of decided) audit.store.add({ kind, actor, principal, what, name, digest });
  await closeAudit(audit);
}
