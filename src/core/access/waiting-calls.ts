import { contentHash } from "../../base/util/content-hash.ts";
import type { Approval } from "../nouns/question.ts";
import type { Grant, Grants } from "./grants.ts";

/** A question about a call, for another process. */
export interface CallQuestion extends Pick<Grant<"call">, "op" | "args" | "hash" | "why" | "steeredBy"> {
  readonly principal: { readonly id: string };
}

/** A call that waits for a person, with the name to type. */
export interface StoredQuestion extends Grant<"call"> {
  readonly name: string;
}

export const CALL_PREFIX = "call:";
/** How long a call waits for a person, and how long the answer counts. */
const WAITING_MS = 60 * 60_000;
const ANSWERED_MS = 10 * 60_000;
const NAME_CHARS = 6;
/** Further calls of a principal replace its oldest. */
const MOST_OF_PRINCIPAL = 32;
/** A person reads all the arguments. */
const MOST_CHARS = 64 * 1024;

/**
 * Calls that a person answers in another process, by `keyhole approve CALL` or at the console. An answer counts once,
 * for exactly the call and the principal that asked.
 */
export type WaitingCalls = ReturnType<typeof createWaitingCalls>;

export function createWaitingCalls(grants: Grants<"call">, now: () => number = Date.now) {
  /** The calls that have not expired, as other processes left them. */
  async function read(): Promise<StoredQuestion[]> {
    await grants.refresh();
    const calls = [...grants.entries()].map(([name, call]) => ({ name, ...call }));
    return calls.filter(({ expiresAt }) => now() < expiresAt);
  }

  async function add({ principal: { id: principal }, ...asked }: CallQuestion): Promise<string | undefined> {
    const { op, args, hash, why, steeredBy } = asked;
    if (JSON.stringify(args).length > MOST_CHARS) return undefined;
    const name = nameOf(hash, principal);
    const calls = await read();
    // A person may be approving it right now: do not overwrite.
    if (calls.some((call) => call.name === name && call.hash === hash)) return name;
    const oldest = calls
      .filter((call) => call.principal === principal)
      .toSorted(byAge)
      .slice(MOST_OF_PRINCIPAL - 1);
    const current = new Set(calls.filter((call) => !oldest.includes(call)).map((call) => call.name));
    const dropped = [...grants.entries().keys()].filter((key) => !current.has(key));
    const times = { askedAt: now(), expiresAt: now() + WAITING_MS };
    const call = { op, args, hash, why, ...(steeredBy && { steeredBy }), principal, ...times };
    await grants.change(new Map([...dropped.map((key) => [key, undefined] as const), [name, call]]));
    return name;
  }

  async function take({ hash, principal: { id: principal } }: CallQuestion): Promise<Approval> {
    const name = nameOf(hash, principal);
    const call = (await read()).find((one) => one.name === name);
    if (!call || isOpen(call) || call.hash !== hash || call.principal !== principal) return false;
    // If several processes take it at once, only one removes the record.
    if ((await grants.change(new Map([[name, undefined]]))) === 0) return false;
    return call.approvedBy === undefined ? "declined" : { by: call.approvedBy };
  }

  async function answer(
    { name, ...shown }: StoredQuestion,
    by: Pick<StoredQuestion, "approvedBy" | "declinedBy">,
  ): Promise<boolean> {
    const call = (await read()).find((one) => one.name === name);
    if (!call || !isOpen(call) || call.hash !== shown.hash || call.principal !== shown.principal)
      return false;
    const answered = { ...shown, ...by, expiresAt: now() + ANSWERED_MS };
    return (await grants.change(new Map([[name, answered]]))) > 0;
  }

  return {
    // A store that cannot be used has no approvals. It reports its own failures.
    /** Stores a question. Returns the name to approve it by; undefined if it is too long. */
    add: (question: CallQuestion): Promise<string | undefined> => add(question).catch(() => undefined),
    /** Takes the person's answer to this question, which can be used once. False if there is none. */
    take: (question: CallQuestion): Promise<Approval> => take(question).catch(() => false),
    /** Waiting calls, newest first. */
    list: async (): Promise<readonly StoredQuestion[]> => (await read()).filter(isOpen).toSorted(byAge),
    /** Approves the call as it was shown. False if it no longer waits. */
    approve: (shown: StoredQuestion, approvedBy: string): Promise<boolean> => answer(shown, { approvedBy }),
    /** Declines the call as it was shown. False if it no longer waits. */
    decline: (shown: StoredQuestion, declinedBy: string): Promise<boolean> => answer(shown, { declinedBy }),
  };
}

/** The same call of the same principal always has the same name. */
function nameOf(hash: string, principal: string): string {
  const digits = contentHash([hash, principal]).slice(0, 12);
  return CALL_PREFIX + Number.parseInt(digits, 16).toString(36).padStart(NAME_CHARS, "0").slice(-NAME_CHARS);
}

function isOpen({ approvedBy, declinedBy }: StoredQuestion): boolean {
  return approvedBy === undefined && declinedBy === undefined;
}

function byAge(one: StoredQuestion, other: StoredQuestion): number {
  return other.askedAt - one.askedAt;
}
