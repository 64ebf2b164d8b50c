import { z } from "zod";
import type { Principal } from "../../schema/principal.ts";
import { problem } from "../../schema/problem.ts";
import { isAdmin } from "../parts/admin-scope.ts";
import type { Conversation, SessionAnswer, SessionsAnswer, Step } from "../parts/answers.ts";
import { addressesIn, type ConsoleParts } from "../parts/console-parts.ts";
import { defineEndpoint, type Endpoint } from "../parts/endpoint.ts";

/** Conversations of agents. Callers without the admin scope see their own. */
export function sessionEndpoints({ gateway, recorder: { conversations } }: ConsoleParts): Endpoint[] {
  const maySee = (principal: Principal) => (conversation: Conversation) =>
    isAdmin(principal) || conversation.principal === principal.id;
  return [
    {
      method: "GET",
      path: "/api/sessions",
      title: "Conversations, the newest first.",
      handle: async ({ principal }): Promise<SessionsAnswer> => ({
        sessions: conversations
          .list()
          .filter(maySee(principal))
          .map(({ steps, ...rest }) => ({
            ...rest,
            queries: steps.flatMap(({ queries }) => queries).slice(0, 3),
          })),
      }),
    },
    defineEndpoint({
      method: "GET",
      path: "/api/session",
      title: "One conversation, call by call.",
      input: z.object({ id: z.string() }),
      handle: async ({ input, principal }): Promise<SessionAnswer> => {
        const found = conversations.find(input.id);
        if (!found || !maySee(principal)(found)) throw problem("NOT_FOUND", { name: "The session" });
        const isSeen = addressesIn(await gateway.view({ principal }));
        const { everything } = await gateway.ledger({ principal });
        return { ...found, everything, steps: found.steps.map((step) => seenBy(step, isSeen)) };
      },
    }),
  ];
}

/** Leaves out addresses that the viewer may not see. A name that led nowhere is only text. */
function seenBy(step: Step, isSeen: (address: string) => boolean): Step {
  const targets = step.outcome === "NOT_FOUND" ? step.targets : step.targets.filter(isSeen);
  return { ...step, targets, found: step.found.filter(isSeen), unveiled: step.unveiled.filter(isSeen) };
}
