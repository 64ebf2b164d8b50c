import { type InputRequiredResult, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import { UNDRAWN } from "../../base/safety/invisible.ts";
import { spellLookalikes } from "../../base/safety/visible-text.ts";
import { boundaryBefore } from "../../base/util/cut-text.ts";
import type { Approval as Answer } from "../../core/calls/call-environment.ts";
import type { ApprovalRequest } from "../../core/calls/decide-call.ts";
import type { RequestContext } from "./request.ts";
import type { SealedStates } from "./sealed-state.ts";

const KEY = "approval";
const PAGE_CHARS = 4_000;
/**
 * Clients that show a form without fields as a choice of one key. Others may hang on it, or accept it by themselves like
 * Codex without approvals, so they get a checkbox. In Codex that takes one key, too.
 */
const ONE_KEY = /\bclaude-code\b/i;
/** The client says that its person agreed. */
const BY_CLIENT: Answer = { by: "person behind the client" };

/** Asks the person behind the client to approve one call, over as many requests as that takes. */
export function createApproval(states: SealedStates, context: RequestContext) {
  const isOneKey = ONE_KEY.test(context.client ?? "");
  let open: ApprovalRequest | undefined;
  let refused = false;
  /** The answer that came back belongs to one question. Later ones of the same request are asked in turn. */
  let isAnswered = false;

  async function approve(request: ApprovalRequest): Promise<Answer> {
    const { state, responses } = context;
    if (request.inScript) return false;
    if (state === undefined || isAnswered) {
      open = request;
      return false;
    }
    if (state.call !== request.hash || !(await states.spend(state.nonce, request.principal.id))) {
      refused = true;
      return false;
    }
    isAnswered = true;
    // A tool that has begun was approved in an earlier request of the same call.
    if (state.kind === "tool") return BY_CLIENT;
    const keys = [...pagesOf(request).keys().map(pageKey), KEY];
    const answers = keys.map((key) => answerTo(responses, key, isOneKey));
    if (answers.every((answer) => answer === "yes")) return BY_CLIENT;
    // A client that nobody sits at cancels: its person has not said no.
    return answers.includes("no") ? "declined" : false;
  }

  return {
    approve,
    /** The question that replaces the refusal, if it has not been asked yet. */
    question: () => (open ? toQuestion(open, states, isOneKey) : undefined),
    /** Whether the state that came back belongs to another call, or was used before. */
    isRefused: () => refused,
  };
}

function toQuestion(request: ApprovalRequest, states: SealedStates, isOneKey: boolean): InputRequiredResult {
  const pages = pagesOf(request);
  const op = visible(request.op);
  const message =
    pages.length === 0
      ? `Run ${op} with ${visible(JSON.stringify(request.args))}?`
      : `Run ${op} with exactly what the ${pages.length} parts showed?`;
  const parts = pages.map((page, index) => {
    const heading = `Part ${index + 1} of ${pages.length} of ${op}:`;
    return [
      pageKey(index),
      toForm(`${heading}\n${page}`, isOneKey || { title: "Seen", description: "Show what comes next" }),
    ];
  });
  return inputRequired({
    requestState: states.approvalState(request),
    inputRequests: {
      ...Object.fromEntries(parts),
      [KEY]: toForm(message, isOneKey || { title: "Approve", description: "Run exactly this call" }),
    },
  });
}

/** A question with a checkbox of these words, or without fields, so that accepting it is the answer. */
function toForm(message: string, box: true | { readonly title: string; readonly description: string }) {
  return inputRequired.elicit({
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
  isOneKey: boolean,
): "yes" | "no" | "none" {
  const answer = inputResponse(responses, key);
  if (answer.kind !== "elicit" || answer.action === "cancel") return "none";
  const isMeant = answer.content?.approve === true || (isOneKey && answer.content?.approve === undefined);
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
