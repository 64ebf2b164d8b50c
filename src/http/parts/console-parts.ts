import type { View } from "../../access/view.ts";
import type { Gateway } from "../../gateway-api.ts";
import type { Principal } from "../../schema/principal.ts";
import { problem } from "../../schema/problem.ts";
import type { ServerProgram } from "../../schema/server-program.ts";
import { isAdmin } from "./admin-scope.ts";
import type { ShownSetting } from "./answers.ts";
import type { ApprovalDesk } from "./approval-desk.ts";
import type { EndpointCall } from "./endpoint.ts";
import type { Recorder } from "./recorder.ts";

/** Decides which servers may start. */
export interface StartConsents {
  isGiven(program: ServerProgram): boolean | Promise<boolean>;
  give(programs: readonly ServerProgram[]): Promise<void>;
}

/** Everything that the endpoints work with. */
export interface ConsoleParts {
  readonly gateway: Gateway;
  readonly recorder: Recorder;
  readonly desk: ApprovalDesk;
  /** The principals that a person may search as, the gateway's own first. */
  principals(): Promise<readonly Principal[]>;
  readonly consents?: StartConsents | undefined;
  readonly settings?: (() => Promise<readonly ShownSetting[]>) | undefined;
  /** Whether a person at the console makes the request, and no program. */
  isPerson(call: Pick<EndpointCall, "request">): boolean;
  /** A link that opens the console once. */
  createLink(): string;
}

/**
 * The principal that a request speaks for: the caller, or the one that `as` names.
 *
 * @throws ADMIN_NEEDED, NOT_FOUND
 */
export async function speaksFor(
  { principals }: Pick<ConsoleParts, "principals">,
  caller: Principal,
  as: string | undefined,
): Promise<Principal> {
  if (as === undefined || as === caller.id) return caller;
  if (!isAdmin(caller)) throw problem("ADMIN_NEEDED", { name: "as", scope: "keyhole:admin" });
  const found = (await principals()).find(({ id }) => id === as);
  if (!found) throw problem("NOT_FOUND", { name: `principal ${as}` });
  return found;
}

/** Tells which addresses a viewer may see: entries of its View, and the domains and groups above them. */
export function addressesIn(view: View): (address: string) => boolean {
  const known = new Map<string, boolean>();
  const isGroup = (address: string) =>
    view.domains.has(address) || view.entries.some(({ op }) => op.startsWith(`${address}.`));
  return (address) => {
    const isSeen = known.get(address) ?? (view.find(address) !== undefined || isGroup(address));
    known.set(address, isSeen);
    return isSeen || address === "" || address === "root";
  };
}
