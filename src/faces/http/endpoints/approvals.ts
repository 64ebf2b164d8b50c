import { z } from "zod";
import { problem } from "../../../base/problems/problem.ts";
import { waits } from "../../../core/access/pins.ts";
import type { ApprovalsAnswer } from "./api-types.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { defineAdminEndpoint, type Endpoint } from "./endpoint.ts";

const MOST_SHOWN = 200;

/** Definitions and calls that wait for a person. */
export function approvalEndpoints({ gateway, approvals }: ConsoleParts): Endpoint[] {
  const { pins } = gateway;
  return [
    defineAdminEndpoint("GET /api/approvals", {
      title: "Definitions and calls that wait for a person.",
      handle: async (): Promise<ApprovalsAnswer> => {
        const waiting = pins.list().filter(waits);
        return {
          definitions: waiting.slice(0, MOST_SHOWN).map((pin) => ({ ...pin, changes: pins.diff(pin.route) })),
          more: Math.max(0, waiting.length - MOST_SHOWN),
          calls: approvals.waiting(),
        };
      },
    }),
    defineAdminEndpoint("POST /api/approvals/definitions", {
      title: "Approves definitions exactly as they were shown.",
      input: z.object({
        pins: z.array(z.object({ route: z.string(), hash: z.string(), program: z.string() })).min(1),
      }),
      handle: async ({ input }) => {
        // A definition that has changed since it was shown keeps waiting.
        const shown = new Set(input.pins.map(keyOf));
        const chosen = pins.list().filter((pin) => waits(pin) && shown.has(keyOf(pin)));
        return { approved: chosen.length === 0 ? 0 : await pins.approve({ pins: chosen }) };
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

function keyOf({ route, hash, program }: { route: string; hash: string; program: string }): string {
  return JSON.stringify([route, hash, program]);
}
