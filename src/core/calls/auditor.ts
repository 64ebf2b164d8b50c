import { isProblem, problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Pin, Pins } from "../access/pins.ts";
import type { AuditEvent, AuditStore } from "../audit/audit-store.ts";

/** Audit log of a gateway. */
export interface AuditOptions {
  /** The gateway does not close it. */
  readonly store: AuditStore;
  /** Refuses calls that write while the log is unwritable. Default: they run, with records in memory and a notice. */
  readonly failClosed?: boolean;
}

export type Auditor = ReturnType<typeof createAuditor>;

/** `tell` is called once when the log becomes unwritable, and again only after a recovery. */
export function createAuditor({ store, failClosed = false }: AuditOptions, tell: (reason: string) => void) {
  let isFailing = false;
  return {
    note: (event: AuditEvent): void => store.add(event),
    /**
     * Records an event before something runs, and waits until it is stored.
     *
     * @throws AUDIT_FAILED if the log cannot be written, fails closed, and the call writes.
     */
    noteFirst: async (event: AuditEvent, writes: boolean): Promise<void> => {
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

/** Pins whose decisions the audit log records. */
export function auditPins(pins: Pins, audit: Auditor, principal: string): Pins {
  /** Records each pin whose state changed. */
  async function record(
    kind: "allowed" | "rejected" | "revoked",
    change: () => Promise<number>,
    actor = principal,
  ): Promise<number> {
    const before = new Map(pins.list().map((pin) => [pin.route, pin.state]));
    const count = await change();
    const changed = ({ route, state }: Pin) => state !== before.get(route);
    for (const { route, hash } of pins.list().filter(changed)) {
      audit.note({ kind, actor, principal, what: "definition", name: route, digest: hash });
    }
    return count;
  }

  return {
    ...pins,
    get damage() {
      return pins.damage;
    },
    approve: (which, by) => record("allowed", () => pins.approve(which), by),
    reject: (which, by) => record("rejected", () => pins.reject(which), by),
    revoke: (which, by) => record("revoked", () => pins.revoke(which), by),
  };
}
