import { randomUUID } from "node:crypto";
import type { Approval, Approve } from "../../calls/call-environment.ts";
import type { WaitingCall } from "./answers.ts";

/** Lets people at the console answer questions about calls that nobody else answers. */
export interface ApprovalDesk {
  readonly approve: Approve;
  waiting(): readonly WaitingCall[];
  /** False if the call no longer waits. */
  answer(id: string, approved: boolean, by: string): boolean;
  close(): void;
}

/** Clients wait about a minute for an answer. */
const ANSWER_MS = 50_000;
const MOST_WAITING = 100;
/** Questions of one principal: more of them would keep those of others out. */
const MOST_OF_ONE = 10;
/** How long nobody may look, such as while a page is loaded again. */
const AWAY_MS = 5_000;
const LOOK_MS = 1_000;

/** `isAttended` says whether somebody looks: otherwise a question is answered at once, as without a console. */
export function createApprovalDesk(isAttended: () => boolean, onChange: () => void): ApprovalDesk {
  const waiting = new Map<
    string,
    { readonly call: WaitingCall; readonly settle: (answer: Approval) => void }
  >();

  return {
    approve: ({ op, args, why, principal, inScript }) => {
      // A script asks about all its effects at once, by its plan.
      if (inScript || !isAttended() || waiting.size >= MOST_WAITING) return false;
      const own = waiting.values().filter(({ call }) => call.principal === principal.id);
      if ([...own].length >= MOST_OF_ONE) return false;
      const id = randomUUID();
      const askedAt = Date.now();
      const { promise, resolve } = Promise.withResolvers<Approval>();
      const timer = setTimeout(() => settle(false), ANSWER_MS);
      timer.unref();
      let seenAt = askedAt;
      const look = setInterval(() => {
        if (isAttended()) seenAt = Date.now();
        else if (Date.now() - seenAt > AWAY_MS) settle(false);
      }, LOOK_MS);
      look.unref();
      const settle = (answer: Approval) => {
        clearTimeout(timer);
        clearInterval(look);
        waiting.delete(id);
        resolve(answer);
        onChange();
      };
      const call = { id, op, args, why, principal: principal.id, askedAt, until: askedAt + ANSWER_MS };
      waiting.set(id, { call, settle });
      onChange();
      return promise;
    },
    waiting: () => [...waiting.values()].map(({ call }) => call),
    answer: (id, approved, by) => {
      const found = waiting.get(id);
      found?.settle(approved ? { by } : "declined");
      return found !== undefined;
    },
    close: () => {
      for (const { settle } of waiting.values()) settle(false);
    },
  };
}
