import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { type Consents, showProgram } from "../../core/access/consents.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import { openConfig } from "../open/open-config.ts";
import { openConsents } from "../open/stores.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";

export const servers = defineCommand({
  name: "servers",
  page: "security.md",
  words: "[CONFIG]",
  about: `Lists the servers of a JSON config and of the settings, and exactly what each runs or reaches. Nothing is
    started here. Servers of a config module start with it and are not listed.`,
  options: {
    config: CONFIG,
    json: JSON_OUTPUT,
  },
  run: async ({ words: [word], config = word, json }) => {
    const { servers, loaded } = await openConfig({ config });
    for (const { message } of loaded.problems) console.error(toVisibleLine(message));
    list(
      servers.map((server) => server.program()),
      openConsents(),
      json,
    );
  },
});

function list(programs: readonly ServerProgram[], consents: Consents, json: boolean): void {
  const rows = programs.map((program) => ({
    label: program.label,
    isAllowed: consents.isGiven(program),
    hash: program.hash,
    // Values of variables and headers may be secret, so JSON has the same lines.
    shown: showProgram(program),
  }));
  if (json) return void console.log(JSON.stringify(rows, null, 2));
  for (const { label, isAllowed, shown } of rows) {
    const state = isAllowed ? "allowed" : "waits for consent";
    console.log([`${toVisibleLine(label)}  ${state}`, ...shown].join("\n  "));
  }
  const waiting = rows.filter(({ isAllowed }) => !isAllowed);
  console.log(`${countOf(rows.length, "server")}, ${waiting.length} waiting for consent.`);
}
