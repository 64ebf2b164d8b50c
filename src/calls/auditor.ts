import type { AuditEvent, AuditStore } from "../audit/audit-store.ts";
import { isProblem, problem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";

/** The audit log of a gateway. */
export interface AuditOptions {
  /** The gateway does not close it. */
  readonly store: AuditStore;
  /**
   * Refuses calls that write while the log cannot be written. Default: calls run, their records wait in memory, and
   * a notice tells it.
   */
  readonly failClosed?: boolean;
}

/** Records what a gateway does. */
export interface Auditor {
  /** Records an event without waiting. */
  note(event: AuditEvent): void;
  /**
   * Records an event before something runs, and waits until the log has it.
   *
   * @throws AUDIT_FAILED if the log cannot be written, fails closed, and the call writes.
   */
  noteFirst(event: AuditEvent, writes: boolean): Promise<void>;
}

/** `tell` hears once that the log cannot be written, until it can be again. */
export function createAuditor(
  { store, failClosed = false }: AuditOptions,
  tell: (reason: string) => void,
): Auditor {
  let isFailing = false;
  return {
    note: (event) => store.add(event),
    noteFirst: async (event, writes) => {
      store.add(event);
      try {
        await store.flush();
        isFailing = false;
      } catch (error) {
        if (!isFailing) tell(reasonOf(error));
        isFailing = true;
        if (!failClosed || !writes) return;
        throw isProblem(error)
          ? error
          : problem("AUDIT_FAILED", { path: "its store", reason: reasonOf(error) });
      }
    },
  };
}
