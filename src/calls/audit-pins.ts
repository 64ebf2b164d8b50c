import type { Pin, Pins } from "../access/pins.ts";
import type { Auditor } from "./auditor.ts";

/** Pins whose approvals and revocations the audit log records. */
export function auditPins(pins: Pins, audit: Auditor, principal: string): Pins {
  /** Records each pin that has another state after the change. */
  async function record(kind: "allowed" | "revoked", change: () => Promise<number>): Promise<number> {
    const before = new Map(pins.list().map((pin) => [pin.route, pin.state]));
    const count = await change();
    const changed = ({ route, state }: Pin) => state !== before.get(route);
    for (const { route, hash } of pins.list().filter(changed)) {
      audit.note({ kind, principal, what: "definition", name: route, digest: hash });
    }
    return count;
  }

  return {
    ...pins,
    get damage() {
      return pins.damage;
    },
    approve: (which) => record("allowed", () => pins.approve(which)),
    revoke: (which) => record("revoked", () => pins.revoke(which)),
  };
}
