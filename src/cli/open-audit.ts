import { userInfo } from "node:os";
import { join } from "node:path";
import type { AuditEvent } from "../audit/audit-store.ts";
import { createFileAuditStore } from "../audit/file-audit-store.ts";
import type { AuditOptions } from "../calls/auditor.ts";
import type { Settings } from "../config/settings-schema.ts";
import { reasonOf } from "../util/reason-of.ts";
import { setStateFolder } from "./user-folders.ts";

type Decision = Extract<AuditEvent, { kind: "allowed" | "revoked" }>;

/** The folder of the audit log that all commands share. */
export function auditFolder(): string {
  return join(setStateFolder(), "audit");
}

/** Opens the audit log. Undefined if the settings switch it off. */
export function openAudit({ enabled, failClosed, sync }: Settings["audit"]): AuditOptions | undefined {
  return enabled ? { store: createFileAuditStore({ path: auditFolder(), sync }), failClosed } : undefined;
}

/** Opens the audit log of the settings files. Settings that cannot be read leave it as it is by default. */
export async function openConfiguredAudit(): Promise<AuditOptions | undefined> {
  try {
    const { loadSettings } = await import("../config/load-settings.ts");
    return openAudit((await loadSettings()).settings.audit);
  } catch (error) {
    console.error(`The audit log is kept with default settings: ${reasonOf(error)}`);
    return openAudit({ enabled: true, failClosed: false, sync: "second" });
  }
}

/** Writes the rest of the log. A failure is told. */
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

/** Records that the person allowed things or took that back. A failure is told, and the decision stands. */
export async function recordDecisions(
  kind: Decision["kind"],
  what: Decision["what"],
  decided: readonly Pick<Decision, "name" | "digest">[],
): Promise<void> {
  if (decided.length === 0) return;
  const audit = await openConfiguredAudit();
  if (!audit) return;
  const principal = localUser();
  for (const { name, digest } of decided) audit.store.add({ kind, principal, what, name, digest });
  await closeAudit(audit);
}
