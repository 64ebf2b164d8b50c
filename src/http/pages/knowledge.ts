import { z } from "zod";
import { coreOf } from "../../gateway-core.ts";
import { hideSecrets } from "../../net/known-secrets.ts";
import { reasonOf } from "../../util/reason-of.ts";
import type { KnowledgeAnswer } from "../parts/answers.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { defineEndpoint, type Endpoint } from "../parts/endpoint.ts";

/** Documents, skills and prompts: how old they are, and reading them again. */
export function knowledgeEndpoints({ gateway, recorder }: ConsoleParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/api/knowledge",
      title: "Sources of documents, skills, prompts and APIs, with their freshness.",
      admin: true,
      handle: async ({ principal }): Promise<KnowledgeAnswer> => {
        const view = await gateway.view({ principal });
        const servers = new Set(
          coreOf(gateway)
            .sources()
            .flatMap((source) => ("diagnostics" in source ? source.id : [])),
        );
        const domains = [...view.domains.values()].map(({ name, description }) => {
          const own = view.entries.filter(({ domain }) => domain === name);
          const kinds = Object.entries(Object.groupBy(own, ({ kind }) => kind));
          return {
            name,
            description,
            entries: Object.fromEntries(kinds.map(([kind, list]) => [kind, list.length])),
          };
        });
        return {
          sources: (await gateway.sources.status()).filter(({ id }) => !servers.has(id)),
          domains,
          search: await gateway.searchStatus(),
        };
      },
    },
    defineEndpoint({
      method: "POST",
      path: "/api/knowledge/refresh",
      title: "Reads a source again. Its earlier content stays in use if that fails.",
      admin: true,
      input: z.object({ id: z.string() }),
      handle: async ({ input }) => {
        try {
          await gateway.sources.refresh(input.id);
          return { ok: true };
        } catch (error) {
          return { ok: false, reason: hideSecrets(reasonOf(error)) };
        } finally {
          recorder.tell({ topic: "sources" });
        }
      },
    }),
  ];
}
