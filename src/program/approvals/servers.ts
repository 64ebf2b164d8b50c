import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { type Consents, showProgram } from "../../core/access/consents.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import { openConfig } from "../open/open-config.ts";
import { openConsents } from "../open/stores.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { confirm, shortHash } from "../terminal/confirm.ts";
import { checkNames, defineCommand, invalid } from "../terminal/define-command.ts";
import { ALL, CONFIG } from "../terminal/shared-options.ts";

/** Lets servers start, and takes that back. */
export const servers = defineCommand({
  name: "servers",
  page: "security.md",
  words: { allow: "[NAME]", revoke: "[NAME]" },
  forms: ["allow NAME|--all", "revoke NAME|--all"],
  about: `allow shows exactly what a server runs or reaches, asks, and lets it start; revoke takes that back. A server
    that changes has to be allowed again. A running gateway notices within a second. Nothing is started here.`,
  options: {
    config: CONFIG,
    all: ALL,
    yes: { takes: "HASH", help: "allow without a terminal exactly what was listed under this hash" },
  },
  run: async ({ action, words: [word], config, all, yes }) => {
    if (all === (word !== undefined)) throw invalid("servers", `${action} needs NAME or --all`);
    const { servers, loaded } = await openConfig({ config, everyProfile: true });
    for (const { message } of loaded.problems) console.error(toVisibleLine(message));
    const programs = servers.map((server) => server.program());
    const consents = openConsents();
    const labels = programs.map(({ label }) => label);
    const lists = `${suggestCommand(["servers"], config)} lists all`;
    if (word !== undefined) checkNames("servers", "server", [word], labels, lists);
    const chosen = programs.filter(({ label }) => all || label === word);
    if (action === "revoke") return console.log(`Revoked: ${await consents.revoke(chosen)}.`);
    await allowServers(chosen, consents, yes);
  },
});

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
