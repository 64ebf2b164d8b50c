import { resolve } from "node:path";
import { definitionLines, exactLines } from "../../agent/tui/approval-lines.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { countOf } from "../../base/util/count-of.ts";
import { waits } from "../../core/access/pins.ts";
import {
  type ApprovalFace,
  type DefinitionApproval,
  definitionsCard,
  type LimitsApproval,
  limitsCard,
  markLane,
  programCard,
  recordDecision,
  type ServerApprovals,
} from "../../gateway/approvals.ts";
import { tellDamage } from "../open/person-grants.ts";
import { saveSetting } from "../open/save-setting.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { approveFolder } from "../open/trust-folder.ts";
import { ownConfig } from "../open/user-folders.ts";
import { checkHash, hasTerminal, shortHash } from "../terminal/confirm.ts";
import { defineCommand, invalid, notFound } from "../terminal/define-command.ts";
import { ALL, CONFIG, JSON_OUTPUT, REFRESH } from "../terminal/shared-options.ts";
import { approveCalls, isCall } from "./approve-calls.ts";
import { type Survey, surveyServers } from "./survey-servers.ts";

export const approve = defineCommand({
  name: "approve",
  page: "upstreams.md",
  words: "[SERVER|TOOL|./FOLDER|CALL]...",
  about: `Shows what waits for your yes, one screen for each server: what it runs, then its tools, with what each may do,
    its tokens, its description and what changed. You choose for each tool. A rejected tool is not asked about again until
    it changes. A tool of a server reads only if it says so and no word of it writes; your word counts for exactly the
    definition that you see (--reads, --writes, or r and R on the screen). TOOL shows one definition whole, also one that
    you have decided about. ./FOLDER shows what Keyhole would use in a folder. CALL shows a call that an agent wants to
    make, under the name that its answer has (call:k3m9q7), and lets it run once. Without a terminal everything is printed
    with a hash, and --hash repeats it, but not for calls.`,
  options: {
    config: CONFIG,
    refresh: REFRESH,
    hash: { takes: "HASH", help: "approve without a terminal exactly what was shown under this hash" },
    revoke: { help: "take back what you decided about a server, a tool or a folder" },
    reads: {
      help: "count TOOL as reading; with SERVER, its tools that look as if they only read",
    },
    writes: {
      help: "count TOOL as writing; with SERVER, its tools that destroy only by a hint that it gives to everything",
    },
    all: { ...ALL, help: "with --revoke: every server" },
    json: JSON_OUTPUT,
  },
  notes: "Exits with 1 if something still waits or a server could not be listed.",
  run: async ({ words, config, refresh, hash, revoke, reads, writes, all, json }) => {
    const folders = words.filter(isFolder);
    const calls = words.filter(isCall);
    const names = words.filter((word) => !isFolder(word) && !isCall(word));
    for (const folder of folders) await approveFolder(resolve(folder), { hash, revoke });
    if (revoke && calls.length > 0)
      throw invalid("approve", "--revoke takes no calls; an approved one expires");
    const isPlain = words.length === 0 && !json && !revoke && hash === undefined;
    const waiting = isPlain || calls.length > 0 ? await approveCalls(calls, config) : undefined;
    if (waiting?.isStopped) return tellInTerminal(STOPPED, true);
    if (words.length > 0 && names.length === 0) return;
    if (revoke && all === names.length > 0) throw invalid("approve", "--revoke needs SERVER, TOOL or --all");
    if (reads && writes) throw invalid("approve", "--reads and --writes exclude each other");
    const lane = reads ? "read" : writes ? "write" : undefined;
    const servers = [...new Set(names.map(serverOf))];
    const survey = await surveyServers({ config, servers, refresh });
    try {
      tellDamage(survey.pins.damage);
      const listed = await survey.list();
      if (json) return console.log(JSON.stringify(listed, null, 2));
      if (revoke)
        return await takeBack(
          survey,
          choose(survey, listed, names, () => true),
          names,
        );
      const looksSo = (one: DefinitionApproval) => lane !== undefined && one.milder === lane;
      const mark: MarkEffect = (one) =>
        isNamed(one, names) || looksSo(one) ? markLane(one, lane ?? one.lane) : one;
      const chosen = choose(survey, listed, names, (one) => isOpen(one) || looksSo(one));
      tellUnreached(survey, listed, (sentence) => console.error(toVisibleLine(sentence)));
      const isAnyAsked = (waiting?.asked ?? 0) > 0;
      if (hasTerminal() && hash === undefined)
        await askEach(survey, chosen, names, mark, isAnyAsked, await terminalFace());
      else await approveShown(survey, chosen, mark, hash, isAnyAsked);
      tellReworded(survey, listed, names);
    } finally {
      await survey.close();
    }
  },
});

/** Shows what waits of these servers, one screen each, and records the answers. Needs a terminal. */
export function approveServers(servers: readonly string[]): Promise<void> {
  return approve.start(servers);
}

/** Asks about what waits of these servers, or of all, in another place than a screen of its own. */
export async function approveIn(
  face: ApprovalFace,
  servers: readonly string[],
  config: string | undefined,
): Promise<void> {
  const survey = await surveyServers({ config, servers, refresh: false, asksTrust: false });
  try {
    const listed = await survey.list();
    tellUnreached(survey, listed, (sentence) => face.tell(sentence, true));
    await askEach(survey, choose(survey, listed, servers, isOpen), servers, (one) => one, false, face);
  } finally {
    await survey.close();
  }
}

async function terminalFace(): Promise<ApprovalFace> {
  const { showApproval } = await import("../../agent/tui/approval-view.ts");
  return { show: showApproval, tell: tellInTerminal };
}

function tellInTerminal(sentence: string, isWaiting = false): void {
  if (isWaiting) process.exitCode = 1;
  console.log(toVisibleLine(sentence));
}

function isFolder(word: string): boolean {
  return /^(?:[./~\\]|[A-Za-z]:(?:\\|\/(?!\/)))/.test(word);
}

/** The server of a word: a server, the route of a tool, or its op. */
function serverOf(word: string): string {
  return word.split("://")[0]!.split(".")[0]!;
}

/** Gives a definition the effect that the options say. */
type MarkEffect = (definition: DefinitionApproval) => DefinitionApproval;

/** Definitions about which a person may say something now. */
function isOpen(definition: DefinitionApproval): boolean {
  return waits(definition) || definition.state === "reworded";
}

/** Whether a word names this definition, by its route or its op. */
function isNamed({ route, op }: DefinitionApproval, names: readonly string[]): boolean {
  return names.includes(route) || names.includes(op);
}

/**
 * The part that the words name, or everything that waits. A named tool is shown whatever its state.
 *
 * @throws INVALID_INPUT for a word that names nothing.
 */
function choose(
  { config }: Survey,
  listed: readonly ServerApprovals[],
  names: readonly string[],
  counts: (definition: DefinitionApproval) => boolean,
): ServerApprovals[] {
  const known = listed.flatMap(({ server, definitions }) => [
    server,
    ...definitions.flatMap(({ op, route }) => [op, route]),
  ]);
  const missing = names.find((name) => !known.includes(name));
  const all = `${suggestCommand(["servers"], config)} shows all`;
  if (missing !== undefined) throw notFound("approve", ["server or tool", missing], known, all);
  return listed.map(({ server, program, proposal, definitions }) => {
    const isWhole = names.length === 0 || names.includes(server);
    const some = definitions.filter((one) => isNamed(one, names) || (isWhole && counts(one)));
    const isLimited = names.includes(server) || (isWhole && some.some(waits));
    return {
      server,
      ...(isWhole && program && { program }),
      ...(isLimited && proposal && { proposal }),
      definitions: some,
    };
  });
}

function tellUnreached(
  { unreached }: Survey,
  listed: readonly ServerApprovals[],
  tell: (sentence: string) => void,
): void {
  const waiting = listed.flatMap(({ program }) => (program && !program.isApproved ? program.server : []));
  const failed = unreached.filter(({ server }) => !waiting.includes(server ?? ""));
  for (const { sentence } of failed) tell(sentence);
  if (failed.length > 0) process.exitCode = 1;
}

/** Definitions whose wording changed stay in use; the person is told. */
function tellReworded(
  { config }: Survey,
  listed: readonly ServerApprovals[],
  names: readonly string[],
): void {
  for (const { server, definitions } of listed) {
    const reworded = definitions.filter(({ state }) => state === "reworded");
    if (reworded.length === 0 || names.length > 0) continue;
    const shows = suggestCommand(["approve", server], config);
    console.log(
      toVisibleLine(
        `${server}: ${countOf(reworded.length, "tool is in use with another wording", "tools are in use with another wording")} than you approved. ${shows} shows it.`,
      ),
    );
  }
}

async function askEach(
  survey: Survey,
  chosen: readonly ServerApprovals[],
  names: readonly string[],
  mark: MarkEffect,
  hasAsked: boolean,
  { show, tell }: ApprovalFace,
): Promise<void> {
  let isAnyAsked = hasAsked;
  for (const { server, program, ...listing } of chosen) {
    let { definitions: waiting, proposal } = listing;
    if (program && !program.isApproved) {
      isAnyAsked = true;
      const answer = await show(programCard(program));
      if (answer === "stop") return tell(STOPPED, true);
      if (answer === "later") {
        tell(`${server} does not start.`, true);
        continue;
      }
      const failure = await survey.start(server, program.hash);
      const listed = (await survey.list()).filter((one) => one.server === server);
      ({ definitions: waiting, proposal } = choose(survey, listed, [server], isOpen)[0]!);
      if (failure !== undefined) {
        tell(failure, true);
        // It may have failed because the sandbox kept it from a folder.
        if (!proposal?.limits.folders) continue;
        waiting = [];
      }
    }
    // With no word, definitions that are in use are told and not asked about.
    const asked = names.length === 0 && !waiting.some(waits) ? [] : waiting.map(mark);
    if (asked.length === 0 && !proposal) continue;
    isAnyAsked = true;
    const card =
      asked.length === 0
        ? limitsCard(server, proposal!)
        : definitionsCard(server, asked, survey.offersWording, proposal);
    const answer = await show(card);
    if (answer === "stop") return tell(STOPPED, true);
    if (answer === "later") {
      const open = asked.filter(waits).length;
      if (open > 0) tell(`${server}: ${countOf(open, "tool waits", "tools wait")}.`, true);
      continue;
    }
    if (proposal && (answer.isLimited || asked.length === 0)) await keepTo(survey, server, proposal, tell);
    if (asked.length === 0) continue;
    const { waiting: open, sentence } = await recordDecision(survey.pins, card, answer);
    tell(sentence, open > 0);
    if (answer.wordingOk) await letReword(tell);
  }
  if (!isAnyAsked) tell("Nothing waits for approval.");
}

async function keepTo(
  survey: Survey,
  server: string,
  { limits }: LimitsApproval,
  tell: ApprovalFace["tell"],
): Promise<void> {
  await survey.limit(server, limits);
  tell(`${server} keeps to this sandbox from its next call on.`);
}

async function letReword(tell: ApprovalFace["tell"]): Promise<void> {
  await saveSetting("changes", "wording-ok", { file: ownConfig() });
  tell(`Servers may change descriptions from now on ("changes" in ${ownConfig()}).`);
}

const STOPPED = "Stopped. The rest waits.";

const COLUMNS = 100;

/** Without a terminal: prints everything, and approves it if the hash is repeated. */
async function approveShown(
  survey: Survey,
  chosen: readonly ServerApprovals[],
  mark: MarkEffect,
  given: string | undefined,
  hasAsked: boolean,
): Promise<void> {
  const isMarked = (one: DefinitionApproval) => mark(one).lane !== one.lane;
  for (const one of chosen)
    for (const line of plainLines({ ...one, definitions: one.definitions.map(mark) })) console.log(line);
  const programs = chosen.flatMap(({ program }) => (program && !program.isApproved ? [program] : []));
  const shown = chosen.flatMap((one) => one.definitions);
  const changing = shown.filter((one) => one.state !== "approved" || isMarked(one));
  const open = changing.filter(
    (one) => waits(one) || one.state === "rejected" || isMarked(one) || given !== undefined,
  );
  const definitions = changing.map(mark);
  const proposals = chosen.flatMap((one) => (one.proposal ? [{ ...one, proposal: one.proposal }] : []));
  if (programs.length + open.length + proposals.length === 0) {
    if (!hasAsked && chosen.every((one) => one.definitions.length === 0))
      console.log("Nothing waits for approval.");
    return;
  }
  const hash = contentHash([
    ...programs.map(({ server, hash }) => [server, hash]),
    ...definitions.map(({ route, hash, program, lane = null }) => [route, hash, program, lane]),
    ...proposals.map(({ server, proposal }) => JSON.stringify([server, proposal.limits])),
  ]);
  console.log(`Hash: ${shortHash(hash)}`);
  checkHash({ operation: "approve", action: "Approving", hash, given });
  for (const { server, hash } of programs) {
    const failure = await survey.start(server, hash);
    if (failure === undefined)
      console.log(
        toVisibleLine(
          `${server} may start. ${suggestCommand(["approve", server], survey.config)} shows its tools.`,
        ),
      );
    else tellInTerminal(failure, true);
  }
  if (definitions.length > 0) console.log(`Approved: ${await survey.pins.approve({ pins: definitions })}.`);
  for (const { server, proposal } of proposals) await keepTo(survey, server, proposal, tellInTerminal);
}

function plainLines({ server, program, definitions, proposal }: ServerApprovals): string[] {
  const columns = process.stdout.columns || COLUMNS;
  const total = definitions.reduce((sum, { tokens }) => sum + tokens, 0).toLocaleString("en-US");
  const isStarting = program && !program.isApproved;
  const facts =
    program && (isStarting || definitions.length > 0) ? exactLines(program.lines, columns - 2) : [];
  const lines = definitions.flatMap((one) =>
    definitionLines(one, {
      mark: one.changes.length > 0 ? "~" : "+",
      columns: columns - 2,
      isOpen: one.changes.length === 0,
    }),
  );
  return [
    ...(isStarting ? [toVisibleLine(`${server} waits for your approval to start:`)] : []),
    ...(!isStarting && definitions.length > 0
      ? [
          toVisibleLine(
            `${server}: ${countOf(definitions.length, "definition")}, ${total} tokens if a client listed them`,
          ),
        ]
      : []),
    ...[...facts, ...exactLines(proposal?.lines ?? [], columns - 2), ...lines].map(({ text }) => `  ${text}`),
    ...(isStarting || definitions.length > 0 ? [""] : []),
  ];
}

/**
 * Takes decisions back. A server may no longer start, and is stopped at its next use; its tools stay as they are for
 * the day when it may start again. `--all` takes back both.
 */
async function takeBack(
  survey: Survey,
  chosen: readonly ServerApprovals[],
  names: readonly string[],
): Promise<void> {
  for (const { server, definitions } of chosen) {
    const isWhole = names.length === 0 || names.includes(server);
    const wasAllowed = isWhole && (await survey.revokeProgram(server)) > 0;
    if (wasAllowed) console.log(toVisibleLine(`${server} may no longer start.`));
    const decided = definitions.filter(
      ({ state, lane }) => lane !== undefined || !["pending", "trusted", "flagged"].includes(state),
    );
    if ((wasAllowed && names.length > 0) || (!isWhole && decided.length === 0)) continue;
    const count = decided.length === 0 ? 0 : await survey.pins.revoke({ pins: decided });
    for (const { route } of decided) console.log(toVisibleLine(route));
    console.log(toVisibleLine(`${server}: ${count} taken back.`));
  }
}
