import { createSeal } from "../../base/safety/seal.ts";
import type { ApprovalRequest } from "../../core/calls/decide-call.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { mintHandle } from "../../core/sessions/mint-handle.ts";
import { APPROVAL_MS, type SpentApprovals } from "../../core/storage/spent-approvals.ts";

interface SealerOptions {
  /** Shared by processes that serve the same clients. */
  readonly secret: string | Uint8Array;
  readonly ttlMs: number;
  readonly now?: () => number;
}

const MAX_CHARS = 64 * 1024;

/**
 * Seals state that travels through the client, and opens it only if it is unchanged: the client can neither read nor
 * change the state.
 */
export function createSealer<T>({ secret, ttlMs, now = Date.now }: SealerOptions) {
  const { seal, open } = createSeal([secret], "keyhole sealed state");
  return {
    /** Seals a payload for `boundTo`, the only one who may bring it back. */
    seal: (payload: T, boundTo: string): string =>
      seal(JSON.stringify({ payload, expires: now() + ttlMs }), boundTo),
    /** Undefined if the state was changed, forged, expired, or sealed for somebody else. */
    open: (sealed: string, boundTo: string): T | undefined => {
      const text = sealed.length > MAX_CHARS ? undefined : open(sealed, boundTo);
      if (text === undefined) return undefined;
      const { payload, expires } = JSON.parse(text);
      return now() < expires ? (payload as T) : undefined;
    },
  };
}

/** State that one request of a call leaves with the client for the next one. It is bound to the exact call. */
export type SealedState = { readonly call: string; readonly nonce: string } & (
  | ({
      readonly kind: "approval";
      /** How many pages the question has. */
      readonly pages: number;
      /** Hashes of the questions that were answered with yes before this one. */
      readonly approved: readonly string[];
      /** The question is a page: whoever has opened it has answered. */
      readonly opens?: true;
    } & Pick<ApprovalRequest, "resume" | "session">)
  | { readonly kind: "tool"; readonly state: string }
  /** A call that waits in this process for the answer to a server's question. `call` is its handle. */
  | { readonly kind: "open" }
);

export type SealedStates = ReturnType<typeof createSealedStates>;

const TTL_MS = 10 * 60_000;

/** Seals the states of calls that take several requests. `ttlMs` is how long a person has to answer, at most an hour. */
export function createSealedStates({ secret, spend }: SpentApprovals, ttlMs = TTL_MS) {
  const { seal, open } = createSealer<SealedState>({ secret, ttlMs: Math.min(ttlMs, APPROVAL_MS) });
  return {
    open,
    approvalState: (
      { hash, principal, resume, session, asks }: ApprovalRequest,
      asked: { readonly pages: number; readonly approved: readonly string[] },
    ) => {
      const goesOn = { ...(resume && { resume }), ...(session && { session }) };
      const page = asks?.opens === undefined ? {} : { opens: true as const };
      const state = {
        kind: "approval" as const,
        call: hash,
        nonce: mintHandle(""),
        ...asked,
        ...goesOn,
        ...page,
      };
      return seal(state, principal.id);
    },
    /** State of a tool that has begun. */
    toolState: (call: string, state: string, principal: Principal) =>
      seal({ kind: "tool", call, nonce: mintHandle(""), state }, principal.id),
    /** State of a call that goes on with the client's answer. */
    openState: (call: string, principal: Principal) =>
      seal({ kind: "open", call, nonce: mintHandle("") }, principal.id),
    /** True once for each approval that was asked for. A principal with too many in a short time gets false. */
    spend,
  };
}
