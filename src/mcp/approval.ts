import { type InputRequiredResult, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import type { Approval as Answer } from "../calls/call-environment.ts";
import type { ApprovalRequest } from "../calls/decide-call.ts";
import { cutText } from "../util/cut-text.ts";
import type { Round } from "./round.ts";
import type { Rounds } from "./rounds.ts";

const KEY = "approval";
const SHOWN_CHARS = 4_000;
/** Control, format, private and unassigned characters, lone surrogates, and separators of lines. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Asks the person behind the client to approve one call, over as many rounds as that takes. */
export interface Approval {
  approve(request: ApprovalRequest): Answer;
  /** The question that replaces the refusal, if it has not been asked yet. */
  question(): InputRequiredResult | undefined;
  /** The state that came back belongs to another call, or was used before. */
  readonly refused: boolean;
}

export function createApproval(rounds: Rounds, round: Round): Approval {
  let open: ApprovalRequest | undefined;
  let refused = false;

  function approve(request: ApprovalRequest): Answer {
    const { state, responses } = round;
    if (state === undefined) {
      open = request;
      return false;
    }
    if (state.call !== request.hash || !rounds.spend(state.nonce, request.principal.id)) {
      refused = true;
      return false;
    }
    // A tool that has begun was approved in an earlier round of the same call.
    if (state.kind === "tool") return true;
    const answer = inputResponse(responses, KEY);
    const accepted = answer.kind === "elicit" && answer.action === "accept";
    return accepted && answer.content?.approve === true ? true : "declined";
  }

  return {
    approve,
    question: () => (open ? toQuestion(open, rounds) : undefined),
    get refused() {
      return refused;
    },
  };
}

function toQuestion(request: ApprovalRequest, rounds: Rounds): InputRequiredResult {
  return inputRequired({
    requestState: rounds.approvalState(request),
    inputRequests: {
      [KEY]: inputRequired.elicit({
        message: `Run ${request.op} with ${shown(request)}?`,
        requestedSchema: {
          type: "object",
          properties: {
            approve: { type: "boolean", title: "Approve", description: "Run exactly this call" },
          },
          required: ["approve"],
        },
      }),
    },
  });
}

/** The person must read exactly what runs: nothing invisible, nothing silently left out. */
function shown({ args, hash }: ApprovalRequest): string {
  const text = JSON.stringify(args);
  const visible = cutText(text, SHOWN_CHARS).replace(INVISIBLE, escapeCharacter);
  if (text.length <= SHOWN_CHARS) return visible;
  return `${visible} [${text.length - SHOWN_CHARS} more characters; call ${hash.slice(0, 16)}]`;
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
