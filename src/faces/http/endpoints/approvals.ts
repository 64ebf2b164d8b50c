import { z } from "zod";
import { problem } from "../../../base/problems/problem.ts";
import { contentHash } from "../../../base/util/content-hash.ts";
import { type Pin, waits } from "../../../core/access/pins.ts";
import { type Entry, LANES } from "../../../core/nouns/entry.ts";
import { listApprovals, type ProgramApproval, toProgramApproval } from "../../../gateway/approvals.ts";
import { faceApiOf } from "../../../gateway/face-api.ts";
import { acceptLimits } from "../../../gateway/limits-approval.ts";
import type { ApprovalsAnswer, WaitingAnswer, WaitingCall, WaitingServer } from "./api-types.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { defineAdminEndpoint, type Endpoint } from "./endpoint.ts";
import { findServer, proposalOf, restart, serversOf } from "./sources.ts";

const MOST_SHOWN = 200;
const shownPin = z.object({
  route: z.string(),
  hash: z.string(),
  program: z.string(),
  lane: z.enum(LANES).optional(),
});
const shownPins = z.array(shownPin).default([]);
const allPins = z.object({ server: z.string(), digest: z.string(), approve: z.boolean() }).optional();

/** Servers, definitions and calls that wait for a person. */
export function approvalEndpoints(parts: ConsoleParts): Endpoint[] {
  const { gateway, approvals } = parts;
  const { pins } = gateway;

  return [
    defineAdminEndpoint("GET /api/waiting", {
      title: "How much waits for a person, and the calls that wait.",
      handle: async (): Promise<WaitingAnswer> => {
        const [servers, calls] = await Promise.all([waitingServers(parts), waitingCalls(parts)]);
        const definitions = pins.list().filter(waits).length;
        return { counts: { servers: servers.length, definitions, calls: calls.length }, calls };
      },
    }),
    defineAdminEndpoint("GET /api/approvals", {
      title: "Servers, definitions and calls that wait for a person.",
      handle: async ({ principal }): Promise<ApprovalsAnswer> => {
        const waitingOnes = await waitingServers(parts);
        const { entries } = await gateway.view({ principal });
        const lanes = new Map(entries.map(({ route, lane }) => [route, lane]));
        const shown = pins.list().filter(isShown);
        const first = shown.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, MOST_SHOWN);
        const programs = waitingOnes.flatMap(({ program }) => program ?? []);
        const listed = await listApprovals({ ...pins, list: () => first }, entries, programs);
        const proposals = await proposalsFor(
          parts,
          shown.filter(waits).map(({ source }) => source),
          entries,
        );
        const names = new Set([
          ...waitingOnes.map(({ server }) => server),
          ...shown.map(({ source }) => source),
        ]);
        const servers = [...names].map((server) => {
          const waitingPins = shown.filter((pin) => pin.source === server && waits(pin));
          const byLane = Map.groupBy(waitingPins, ({ route }) => lanes.get(route) ?? "write");
          return {
            server,
            ...waitingOnes.find((one) => one.server === server),
            ...proposals.find((one) => one.server === server),
            waiting: {
              lanes: Object.fromEntries([...byLane].map(([lane, some]) => [lane, some.length])),
              flagged: waitingPins.filter(({ injection }) => injection.length > 0).length,
              digest: digestOf(waitingPins),
            },
            definitions: listed.find((one) => one.server === server)?.definitions ?? [],
          };
        });
        return { servers, calls: await waitingCalls(parts), isEditable: parts.editor !== undefined };
      },
    }),
    defineAdminEndpoint("POST /api/approvals/definitions", {
      title:
        "Approves and rejects definitions exactly as they were shown: some, or all of a server that wait.",
      input: z.object({ approve: shownPins, reject: shownPins, all: allPins }),
      handle: async ({ input: { all, ...input }, principal }) => {
        // A definition that has changed since it was shown keeps waiting.
        const chosen = (shown: z.infer<typeof shownPins>) => {
          const lanes = new Map(shown.map((pin) => [keyOf(pin), pin.lane]));
          const listed = pins.list().filter((pin) => lanes.has(keyOf(pin)));
          return listed.map((pin) => ({ ...pin, lane: lanes.get(keyOf(pin)) }));
        };
        const every = pins.list().filter((pin) => pin.source === all?.server && waits(pin));
        if (all && all.digest !== digestOf(every)) throw problem("NOT_FOUND", { name: "The shown list" });
        const clean = every.filter(({ injection }) => injection.length === 0);
        const approve = [...chosen(input.approve), ...(all?.approve ? clean : [])];
        const reject = [...chosen(input.reject), ...(all && !all.approve ? every : [])];
        return {
          approved: approve.length === 0 ? 0 : await pins.approve({ pins: approve }, principal.id),
          rejected: reject.length === 0 ? 0 : await pins.reject({ pins: reject }, principal.id),
        };
      },
    }),
    defineAdminEndpoint("POST /api/approvals/limits", {
      title: "Keeps a server to exactly the limits that were shown, and starts it again.",
      input: z.object({ id: z.string(), hash: z.string() }),
      handle: async ({ input: { id, hash }, principal }) => {
        const source = findServer(gateway, id);
        const { entries } = await gateway.view({ principal });
        const proposal = await proposalOf(parts, source, entries);
        if (!parts.acceptedLimits || proposal?.hash !== hash)
          throw problem("NOT_FOUND", { name: "That sandbox" });
        await acceptLimits(source, proposal.limits, parts.acceptedLimits);
        return restart(source, parts);
      },
    }),
    defineAdminEndpoint("POST /api/approvals/calls", {
      title: "Approves or declines a call that waits.",
      input: z.object({ id: z.string(), approve: z.boolean(), hash: z.string().optional() }),
      handle: async ({ input: { id, approve, hash }, principal }) => {
        const by = `${principal.id} at the console`;
        const kept = faceApiOf(gateway).keptQuestions();
        const shown = hash && (await kept?.list())?.find((one) => one.name === id && one.hash === hash);
        const isAnswered = shown
          ? await kept?.[approve ? "approve" : "decline"](shown, by)
          : approvals.answer(id, approve, by);
        if (!isAnswered) throw problem("NOT_FOUND", { name: "The waiting call" });
        return { ok: true };
      },
    }),
  ];
}

/** Limits for those of these servers that may start, each with its name. */
async function proposalsFor(parts: ConsoleParts, labels: readonly string[], entries: readonly Entry[]) {
  const sources = serversOf(parts.gateway).filter(({ label }) => labels.includes(label));
  const rows = sources.map(async (source) => {
    const proposal = await proposalOf(parts, source, entries);
    return proposal ? [{ server: source.label, id: source.id, proposal }] : [];
  });
  return (await Promise.all(rows)).flat();
}

/** Calls that wait, and those whose client could not: they have a hash, and are approved for the next time. */
async function waitingCalls({ gateway, approvals }: ConsoleParts): Promise<readonly WaitingCall[]> {
  const kept = (await faceApiOf(gateway).keptQuestions()?.list()) ?? [];
  const shown = kept.map(({ name: id, op, args, why, principal, askedAt, hash }) => ({
    ...{ id, op, args, why, principal, askedAt, hash },
  }));
  return [...approvals.waiting(), ...shown];
}

interface WaitingForPerson extends Pick<WaitingServer, "server" | "id" | "reason"> {
  readonly program?: ProgramApproval;
}

/** Servers that wait for a yes to their program or for a login, with the reason. */
export async function waitingServers({ gateway, consents }: ConsoleParts) {
  const rows = serversOf(gateway).map(async (source) => {
    const { status, label: server } = source.diagnostics();
    const about: WaitingForPerson = { server, id: source.id, reason: status?.reason ?? "" };
    if (status?.state === "needs_login") return [about];
    if (status?.state !== "quarantined") return [];
    const program = consents && (await toProgramApproval(source.program(), consents));
    if (program?.isApproved) return [];
    return [{ ...about, ...(program && { program }) }];
  });
  return (await Promise.all(rows)).flat();
}

function isShown(pin: Pin): boolean {
  return waits(pin) || pin.state === "reworded" || pin.state === "rejected";
}

/** Definitions that try to steer a model come first, those that were decided about last. */
function rankOf(pin: Pin): number {
  return pin.injection.length > 0 ? 0 : waits(pin) ? 1 : 2;
}

function digestOf(pins: readonly Pin[]): string {
  return contentHash(pins.map(keyOf));
}

function keyOf({ route, hash, program }: Pick<Pin, "route" | "hash" | "program">): string {
  return JSON.stringify([route, hash, program]);
}
