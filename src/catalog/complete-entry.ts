import type { Domain, Entry, EntryDraft } from "../schema/entry.ts";
import { deriveLane } from "./derive-lane.ts";
import { opFromName } from "./op-name.ts";
import { opToRoute, parseRoute, routeToOp } from "./route.ts";

/** Gives a draft its address, lane and merged scopes. Returns a sentence if it cannot have an address. */
export function completeEntry(draft: EntryDraft, domain: Domain | undefined): Entry | string {
  const address = toAddress(draft);
  if (typeof address === "string") return address;
  const scopes = [...new Set([...(domain?.scopes ?? []), ...draft.scopes])].sort();
  if (draft.kind !== "tool") return { ...draft, ...address, scopes, lane: "read" };
  const { defaultLane, ...tool } = draft;
  const lane = deriveLane({ ...tool, name: tellingName(tool.name, address.op) }, defaultLane);
  return { ...tool, ...address, scopes, lane };
}

function toAddress(draft: EntryDraft): { route: string; op: string } | string {
  const where = `domain ${draft.domain}, ${draft.kind} ${draft.name}`;
  const declaredOp = draft.kind === "tool" ? draft.op : undefined;
  if (draft.route !== undefined) {
    const route = parseRoute(draft.route);
    if (!route) return `${where}: ${draft.route} is not a route; write ${draft.domain}://${draft.kind}s/path`;
    if (route.kind !== draft.kind)
      return `${where}: is a ${draft.kind}, so its route goes under ${draft.kind}s/`;
    if (route.domain !== draft.domain) return `${where}: its route must begin with ${draft.domain}://`;
    const op = routeToOp(route);
    if (declaredOp !== undefined && declaredOp !== op) {
      return `${where}: its route spells the op ${op}, not ${declaredOp}; give one of the two`;
    }
    return { route: draft.route, op };
  }
  const op = declaredOp ?? opFromName(draft.name, draft.domain);
  const route = op && opToRoute(op, draft.domain);
  if (!op || !route || !parseRoute(route)) {
    return `${where}: no address can be made of this name; give a route, or an op that begins with "${draft.domain}."`;
  }
  return { route, op };
}

/** The last part of the address says more about the lane than a title such as "SQL Query". */
function tellingName(name: string, op: string): string {
  return /\s/.test(name) ? (op.split(".").at(-1) ?? name) : name;
}
