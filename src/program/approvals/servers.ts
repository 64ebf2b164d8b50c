import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { countOf } from "../../base/util/count-of.ts";
import { type Consents, showProgram } from "../../core/access/consents.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import { openConfig } from "../open/open-config.ts";
import { openConsents } from "../open/stores.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { confirm, shortHash } from "../terminal/confirm.ts";
import { checkNames, defineCommand, invalid } from "../terminal/define-command.ts";
import { ALL, CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";

export const servers = defineCommand({
  name: "servers",
  page: "security.md",
  words: { "": "[CONFIG]", allow: "[LABEL]", revoke: "[LABEL]" },
  forms: ["[CONFIG]", "allow LABEL|--all", "revoke LABEL|--all"],
  about: `Lists the servers of a JSON config and of the settings, and exactly what each runs or reaches. allow shows it,
    asks, and lets the servers start; revoke takes that back. A server that changes has to be allowed again. A running
    gateway notices within a second. Nothing is started here. Servers of a config module start with it and are not
    listed.`,
  options: {
    config: CONFIG,
    all: ALL,
    yes: { takes: "HASH", help: "allow without a terminal exactly what was listed under this hash" },
    json: JSON_OUTPUT,
  },
  run: async ({ action, words: [word], config, all, yes, json }) => {
    if (action && all === (word !== undefined)) throw invalid("servers", `${action} needs LABEL or --all`);
    const { servers, loaded } = await openConfig({
      config: config ?? (action ? undefined : word),
      everyProfile: true,
    });
    for (const { message } of loaded.problems) console.error(toVisibleLine(message));
    const programs = servers.map((server) => server.program());
    const consents = openConsents();
    if (!action) return list(programs, consents, json);
    const labels = programs.map(({ label }) => label);
    const lists = `${suggestCommand(["servers"], config)} lists all`;
    if (word !== undefined) checkNames("servers", "server", [word], labels, lists);
    const chosen = programs.filter(({ label }) => all || label === word);
    if (action === "revoke") return console.log(`Revoked: ${await consents.revoke(chosen)}.`);
    await allowServers(chosen, consents, yes);
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

/** Shows what servers run, asks, and lets them start. */
export async function allowServers(
  chosen: readonly ServerProgram[],
  consents: Consents,
  yes?: string,
): Promise<void> {
  const waiting = chosen.filter((program) => !consents.isGiven(program));
  if (waiting.length === 0) return console.log("Nothing waits for consent.");
  for (const program of waiting)
    console.log([toVisibleLine(program.label), ...showProgram(program)].join("\n  "));
  const hash = contentHash(waiting.map((program) => [program.label, program.hash]));
  console.log(`Hash: ${shortHash(hash)}`);
  const question = waiting.length === 1 ? "Let it start?" : `Let these ${waiting.length} servers start?`;
  const agreed = await confirm({
    operation: "servers",
    action: "Letting a server start",
    question,
    hash,
    yes,
    refusal: "Nothing is allowed.",
  });
  if (!agreed) return;
  await consents.give(waiting);
  console.log(`Allowed: ${waiting.length}.`);
}
