import { z } from "zod";
import { problem } from "../../../base/problems/problem.ts";
import { type Pin, waits } from "../../../core/access/pins.ts";
import { LANES } from "../../../core/nouns/entry.ts";
import { type DefinitionApproval, listApprovals, toProgramApproval } from "../../../gateway/approvals.ts";
import type { ApprovalsAnswer } from "./api-types.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { defineAdminEndpoint, type Endpoint } from "./endpoint.ts";
import { upstreamsOf } from "./sources.ts";

const MOST_SHOWN = 200;
const shownPin = z.object({
  route: z.string(),
  hash: z.string(),
  program: z.string(),
  lane: z.enum(LANES).optional(),
});
const shownPins = z.array(shownPin).default([]);

/** Programs, definitions and calls that wait for a person. */
export function approvalEndpoints({ gateway, approvals, consents }: ConsoleParts): Endpoint[] {
  const { pins } = gateway;

  /** Servers that no person has approved yet, with their sources. */
  async function waitingPrograms() {
    const held = upstreamsOf(gateway).filter((one) => one.diagnostics().status?.state === "quarantined");
    const programs = held.map(async (source) => {
      if (!consents) return [];
      const program = await toProgramApproval(source.program(), consents);
      return program.isApproved ? [] : [{ id: source.id, program }];
    });
    return (await Promise.all(programs)).flat();
  }

  return [
    defineAdminEndpoint("GET /api/approvals", {
      title: "Programs, definitions and calls that wait for a person.",
      handle: async ({ principal }): Promise<ApprovalsAnswer> => {
        const programs = await waitingPrograms();
        const { entries } = await gateway.view({ principal });
        const listed = await listApprovals(
          pins,
          entries,
          programs.map(({ program }) => program),
        );
        let room = MOST_SHOWN;
        const servers = listed.flatMap(({ server, program, definitions }) => {
          const shown = definitions.filter(isShown).slice(0, room);
          room -= shown.length;
          const id = programs.find((one) => one.program.server === server)?.id;
          return program || shown.length > 0
            ? [{ server, ...(program && { program }), ...(id && { id }), definitions: shown }]
            : [];
        });
        const count = listed.flatMap(({ definitions }) => definitions).filter(isShown).length;
        return { servers, more: Math.max(0, count - MOST_SHOWN), calls: approvals.waiting() };
      },
    }),
    defineAdminEndpoint("POST /api/approvals/definitions", {
      title: "Approves and rejects definitions exactly as they were shown.",
      input: z.object({ approve: shownPins, reject: shownPins }),
      handle: async ({ input, principal }) => {
        // A definition that has changed since it was shown keeps waiting.
        const chosen = (shown: z.infer<typeof shownPins>) => {
          const lanes = new Map(shown.map((pin) => [keyOf(pin), pin.lane]));
          const listed = pins.list().filter((pin) => lanes.has(keyOf(pin)));
          return listed.map((pin) => ({ ...pin, lane: lanes.get(keyOf(pin)) }));
        };
        const [approve, reject] = [chosen(input.approve), chosen(input.reject)];
        return {
          approved: approve.length === 0 ? 0 : await pins.approve({ pins: approve }, principal.id),
          rejected: reject.length === 0 ? 0 : await pins.reject({ pins: reject }, principal.id),
        };
      },
    }),
    defineAdminEndpoint("POST /api/approvals/calls", {
      title: "Approves or declines a call that waits.",
      input: z.object({ id: z.string(), approve: z.boolean() }),
      handle: async ({ input, principal }) => {
        const isAnswered = approvals.answer(input.id, input.approve, `${principal.id} at the console`);
        if (!isAnswered) throw problem("NOT_FOUND", { name: "The waiting call" });
        return { ok: true };
      },
    }),
  ];
}

function isShown(definition: DefinitionApproval): boolean {
  return waits(definition) || definition.state === "reworded" || definition.state === "rejected";
}

function keyOf({ route, hash, program }: Pick<Pin, "route" | "hash" | "program">): string {
  return JSON.stringify([route, hash, program]);
}
