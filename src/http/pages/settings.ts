import { hideSecrets } from "../../net/known-secrets.ts";
import { PROGRAM_VERSION } from "../../util/program-version.ts";
import type { SettingsAnswer } from "../parts/answers.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Endpoint } from "../parts/endpoint.ts";

/** Settings in effect, and links for other browsers. */
export function settingsEndpoints({ gateway, settings, principals, createLink }: ConsoleParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/api/settings",
      title: "The settings in effect and where each comes from. Never secrets.",
      admin: true,
      handle: async (): Promise<SettingsAnswer> => ({
        version: PROGRAM_VERSION,
        node: process.version,
        search: await gateway.searchStatus(),
        principals: (await principals()).map(({ id, scopes, allowWrite }) => ({ id, scopes, allowWrite })),
        settings: hideSecrets((await settings?.()) ?? []),
      }),
    },
    {
      method: "POST",
      path: "/api/console/link",
      title: "A link that opens the console once, in another browser.",
      admin: true,
      handle: async () => ({ url: createLink() }),
    },
  ];
}
