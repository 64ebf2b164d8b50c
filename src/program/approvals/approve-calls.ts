import { problem } from "../../base/problems/problem.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { CALL_PREFIX, type StoredQuestion } from "../../core/access/waiting-calls.ts";
import { toAge } from "../../core/answers/to-age.ts";
import type { ApprovalCard } from "../../gateway/approvals.ts";
import { openStateOf } from "../open/open-state.ts";
import { localUser, openWaitingCalls } from "../open/stores.ts";
import { hasTerminal } from "../terminal/confirm.ts";
import { notFound } from "../terminal/define-command.ts";

/** Whether a word names a call that waits, rather than a server or a tool. */
export function isCall(word: string): boolean {
  return word.startsWith(CALL_PREFIX);
}

/**
 * Shows calls that wait for the person, one screen each, and lets those run that they approve. A terminal is needed: a
 * model that runs commands could repeat a hash.
 *
 * @returns how many wait, and whether the person stopped.
 * @throws INVALID_INPUT for a name that no call waits under. PERSON_NEEDED without a terminal, if calls are named.
 */
export async function approveCalls(
  names: readonly string[],
  config: string | undefined,
): Promise<{ readonly asked: number; readonly isStopped: boolean }> {
  const waiting = openWaitingCalls(await openStateOf(config));
  const calls = await waiting.list();
  const known = calls.map(({ name }) => name);
  const missing = names.find((name) => !known.includes(name));
  const gone = "it has been approved, has waited for more than an hour, or was never asked about";
  if (missing !== undefined) throw notFound("approve", ["call", missing], [], gone);
  const chosen = calls.filter(({ name }) => names.length === 0 || names.includes(name));
  if (!hasTerminal()) {
    for (const call of chosen) {
      const { title, facts } = callCard(call);
      console.log([title, ...facts.map((fact) => `  ${fact}`), ""].join("\n"));
    }
    if (names.length > 0) throw problem("CALL_NEEDS_PERSON", { name: names.join(" ") });
    if (chosen.length > 0) process.exitCode = 1;
    return { asked: chosen.length, isStopped: false };
  }
  const { showApproval } = await import("../../agent/tui/approval-view.ts");
  for (const call of chosen) {
    const answer = await showApproval(callCard(call));
    if (answer === "stop") return { asked: chosen.length, isStopped: true };
    if (answer === "later") process.exitCode = 1;
    const isApproved = answer !== "later" && (await waiting.approve(call, localUser()));
    const outcome = isApproved
      ? "may run once, within ten minutes. The agent has to make the same call again."
      : "does not run.";
    console.log(toVisibleLine(`${call.name}  ${call.op} ${outcome}`));
  }
  return { asked: chosen.length, isStopped: false };
}

const WHY: Readonly<Record<string, string>> = {
  confirmation: "every call of this tool asks you",
  destroys: "it destroys something",
  writes: "it changes something",
};

/** The exact call. Every line of its arguments stands behind a mark, so that it imitates no other line. */
function callCard({ name, op, args, principal, why, steeredBy, askedAt }: StoredQuestion): ApprovalCard {
  const reason =
    steeredBy === undefined
      ? (WHY[why] ?? why)
      : `it changes something, after text from ${steeredBy} in the same session tried to steer the model`;
  return {
    title: `${name}: may this call run once?`,
    facts: [
      `tool   ${toVisibleLine(op)}`,
      `agent  ${toVisibleLine(principal)}, ${toAge(Date.now() - askedAt)} ago`,
      `asks   because ${toVisibleLine(reason)}`,
      "with exactly these arguments:",
      ...JSON.stringify(args, null, 2)
        .split("\n")
        .map((line) => `│ ${toVisibleLine(line)}`),
    ],
    definitions: [],
    yes: "Yes, run exactly this, once",
  };
}
