import { countMenu } from "../../surfaces/count-menu.ts";
import { loadTokenCounter } from "../../util/tokens.ts";
import { isAdmin } from "../parts/admin-scope.ts";
import type { MeAnswer, PrincipalsAnswer } from "../parts/answers.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Endpoint } from "../parts/endpoint.ts";

/** The caller itself, and the principals that a person may search as. */
export function peopleEndpoints({ gateway, principals }: ConsoleParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/api/me",
      title: "The caller, as the gateway knows it.",
      handle: async ({ principal }): Promise<MeAnswer> => ({
        id: principal.id,
        scopes: principal.scopes,
        allowWrite: principal.allowWrite,
        admin: isAdmin(principal),
      }),
    },
    {
      method: "GET",
      path: "/api/principals",
      title: "The principals that a search may speak for, with what their menus cost.",
      admin: true,
      handle: async (): Promise<PrincipalsAnswer> => {
        const countTokens = await loadTokenCounter();
        const rows = (await principals()).map(async (principal) => {
          const [view, menu, { everything }] = await Promise.all([
            gateway.view({ principal }),
            gateway.menu({ principal }),
            gateway.ledger({ principal }),
          ]);
          const { id, scopes, allowWrite } = principal;
          const entries = view.shown.length;
          return { id, scopes, allowWrite, entries, menu: await countMenu(menu, countTokens), everything };
        });
        return { principals: await Promise.all(rows) };
      },
    },
  ];
}
