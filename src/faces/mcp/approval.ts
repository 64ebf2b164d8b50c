import { type InputRequiredResult, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import { UNDRAWN } from "../../base/safety/invisible.ts";
import { spellLookalikes } from "../../base/safety/visible-text.ts";
import { boundaryBefore } from "../../base/util/cut-text.ts";
import { lazy } from "../../base/util/lazy.ts";
import type { Approve } from "../../core/calls/call-environment.ts";
import type { ApprovalRequest } from "../../core/calls/decide-call.ts";
import type { Approval } from "../../core/nouns/question.ts";
import type { AskingOptions } from "../../gateway/face-api.ts";
import { refusedState } from "./protocol-errors.ts";
import type { RequestContext } from "./request.ts";
import type { SealedState, SealedStates } from "./sealed-state.ts";

const KEY = "approval";
/** In the `_meta` of a question: the server and the tool, for clients that keep records of questions. */
const TOOL_META_KEY = "keyhole/tool";
const PAGE_CHARS = 4_000;
/**
 * Clients that show a form without fields as a choice of one key. Others may hang on it, or accept it by themselves like
 * Codex without approvals, so they get a checkbox. In Codex that takes one key, too.
 */
const ONE_KEY = /\bclaude-code\b/i;
/** The client says that its person agreed. */
const BY_CLIENT: Approval = { by: "person behind the client" };

/**
 * The answers of the person behind the client, who is asked between requests. They count once, and for their questions
 * alone; `used` has the hashes of those that this request has answered.
 */
export function answersOf(
  states: SealedStates,
  context: RequestContext,
): Pick<AskingOptions, "answers" | "approve"> & { readonly used: readonly string[] } {
  const { state, principal } = context;
  const used: string[] = [];
  if (!state || state.kind === "open") return { answers: () => false, used };
  // A tool that has begun was approved in an earlier request of the same call.
  const answer = state.kind === "tool" ? BY_CLIENT : readAnswer(state, context);
  const earlier = state.kind === "tool" ? [] : state.approved;
  const spend = lazy(() => states.spend(state.nonce, principal.id));
  const answers: Approve = async ({ hash, inScript }) => {
    const isEarlier = earlier.includes(hash);
    if (inScript || !(isEarlier || hash === state.call) || !(await spend())) return false;
    used.push(hash);
    return isEarlier ? BY_CLIENT : answer;
  };
  // A client that nobody sits at cancels, and is not asked again.
  return answer === false ? { answers: undefined, approve: answers, used } : { answers, used };
}

function readAnswer(
  { pages, opens }: Extract<SealedState, { kind: "approval" }>,
  { responses, client }: RequestContext,
): Approval {
  const keys = [...Array.from({ length: pages }, (_, index) => pageKey(index)), KEY];
  const answers = keys.map((key) => answerTo(responses, key, opens ?? isOneKey(client)));
  if (answers.every((answer) => answer === "yes")) return BY_CLIENT;
  return answers.includes("no") ? "declined" : false;
}

/**
 * Puts a question to the person behind the client.
 *
 * @throws ProtocolError if the state that came back belongs to another call, or was used before.
 */
export function toQuestion(
  question: ApprovalRequest,
  states: SealedStates,
  { state, client }: RequestContext,
  used: readonly string[],
): InputRequiredResult {
  const { opens } = question.asks ?? {};
  if (opens !== undefined) return toPage(question, opens, states);
  if (state && used.length === 0) throw refusedState();
  const oneKey = isOneKey(client);
  const pages = pagesOf(question);
  const op = visible(question.op);
  const [server, ...tool] = question.op.split(".");
  const asked =
    pages.length === 0
      ? `Run ${op} with ${visible(JSON.stringify(question.args))}?`
      : `Run ${op} with exactly what the ${pages.length} parts showed?`;
  const { steeredBy } = question;
  const message =
    steeredBy === undefined
      ? asked
      : `Text from ${visible(steeredBy)} in this session tried to steer the model. ${asked}`;
  const parts = pages.map((page, index) => {
    const heading = `Part ${index + 1} of ${pages.length} of ${op}:`;
    return [
      pageKey(index),
      toForm(`${heading}\n${page}`, oneKey || { title: "Seen", description: "Show what comes next" }),
    ];
  });
  return inputRequired({
    requestState: states.approvalState(question, { pages: pages.length, approved: used }),
    inputRequests: {
      ...Object.fromEntries(parts),
      [KEY]: toForm(message, oneKey || { title: "Approve", description: "Run exactly this call" }, {
        [TOOL_META_KEY]: { server, tool: tool.join(".") },
      }),
    },
  });
}

/** Asks the client to open a page for its person. A link is of no use to anybody else, so it needs no state. */
function toPage(question: ApprovalRequest, url: string, states: SealedStates): InputRequiredResult {
  const message = `${question.args.action}. ${question.args.reason}`;
  return inputRequired({
    requestState: states.approvalState(question, { pages: 0, approved: [] }),
    inputRequests: { [KEY]: inputRequired.elicitUrl({ message: visible(message), url }) },
  });
}

function isOneKey(client: string | undefined): boolean {
  return ONE_KEY.test(client ?? "");
}

/** A question with a checkbox of these words, or without fields, so that accepting it is the answer. */
function toForm(
  message: string,
  box: true | { readonly title: string; readonly description: string },
  _meta?: Readonly<Record<string, unknown>>,
) {
  return inputRequired.elicit({
    ...(_meta && { _meta }),
    message,
    requestedSchema:
      box === true
        ? { type: "object", properties: {} }
        : { type: "object", properties: { approve: { type: "boolean", ...box } }, required: ["approve"] },
  });
}

function answerTo(
  responses: RequestContext["responses"],
  key: string,
  oneKey: boolean,
): "yes" | "no" | "none" {
  const answer = inputResponse(responses, key);
  if (answer.kind !== "elicit" || answer.action === "cancel") return "none";
  const isMeant = answer.content?.approve === true || (oneKey && answer.content?.approve === undefined);
  return answer.action === "accept" && isMeant ? "yes" : "no";
}

/** The pages of arguments that do not fit into one question. A person must read exactly what runs. */
function pagesOf(request: ApprovalRequest): string[] {
  const text = visible(JSON.stringify(request.args));
  if (text.length <= PAGE_CHARS) return [];
  const pages: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const end = rest.length <= PAGE_CHARS ? rest.length : boundaryBefore(rest, PAGE_CHARS);
    pages.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return pages;
}

function pageKey(index: number): string {
  return `part_${index + 1}`;
}

/** Escapes whatever a person could not see. */
function visible(text: string): string {
  const spell = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  return spellLookalikes(text.replace(UNDRAWN, spell), spell);
}
