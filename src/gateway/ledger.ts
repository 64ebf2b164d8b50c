import { problem } from "../base/problems/problem.ts";
import { countLongText, type TokenCounter } from "../base/tokens/tokens.ts";
import { memoizeByObject } from "../base/util/memoize-by-object.ts";
import type { View } from "../core/access/view.ts";
import type { Entry } from "../core/nouns/entry.ts";
import type { Aside, Limits } from "../core/operations/operation.ts";
import { addTokens, type Cause, NO_TOKENS, sumTokens, type Tokens } from "../core/sessions/working-memory.ts";
import { type CallSession, isSessionAddress } from "../core/storage/session-store.ts";
import { countMenu } from "../core/surfaces/menu.ts";
import { nativeTools, toNativeTool } from "../core/surfaces/native-tools.ts";

/** An answer as it enters an agent's context. */
export interface LedgerEntry {
  readonly cause: Cause;
  readonly text: string;
  readonly asides: readonly Aside[];
  readonly session?: CallSession | undefined;
  /** The tokens of the whole text, if already counted. */
  readonly tokens?: number | undefined;
  /** Called with the tokens of the whole text once they are counted. Must not throw. */
  readonly counted?: ((tokens: number) => void) | undefined;
  readonly countTokens: TokenCounter;
}

/** The tokens that a gateway put into contexts. */
export interface LedgerReport {
  /** Tokens put into the context of the session, or of all of them, by cause. */
  readonly tokens: Tokens;
  readonly total: number;
  /** Tokens that listing every visible tool would cost on each request. */
  readonly everything: number;
}

interface ShownMenu {
  readonly tools: readonly object[];
  readonly session: CallSession | undefined;
}

/** More answers wait only while the event loop is blocked, and would survive garbage collection. */
const MOST_WAITING = 64;
const MOST_WAITING_CHARS = 1_000_000;
const MOST_WAITING_MENUS = 1_000;

/** Counts the tokens put into agents' contexts. */
export function createLedger() {
  let total = NO_TOKENS;
  let waiting: LedgerEntry[] = [];
  let waitingChars = 0;
  let menus: ShownMenu[] = [];
  let counted = Promise.resolve();
  let saved: Promise<unknown> = Promise.resolve();

  function spend(tokens: Tokens, session: CallSession | undefined): void {
    total = addTokens(total, tokens);
    if (!session) return;
    session.update((memory) => ({ ...memory, tokens: addTokens(memory.tokens, tokens) }));
    saved = Promise.all([saved, session.save()]);
  }

  function settleAnswers(): void {
    const bySession = Map.groupBy(waiting, ({ session }) => session?.handle);
    waiting = [];
    waitingChars = 0;
    for (const answers of bySession.values())
      spend(answers.map(countAnswer).reduce(addTokens), answers[0]!.session);
  }

  async function countMenus(): Promise<void> {
    const shown = menus;
    menus = [];
    for (const { tools, session } of shown) spend({ ...NO_TOKENS, menu: await countMenu(tools) }, session);
  }

  /** Callers that arrive during a count wait for it. */
  function settleMenus(): Promise<void> {
    counted = counted.then(countMenus).catch(() => {});
    return counted;
  }

  /** Counts all waiting answers and menus. */
  async function settle(): Promise<void> {
    settleAnswers();
    await settleMenus();
    await saved;
  }

  return {
    /** Records an answer. It is counted after it was sent. */
    note: (answer: LedgerEntry): void => {
      if (waiting.length === 0) setImmediate(settleAnswers).unref();
      waiting.push(answer);
      waitingChars += answer.text.length;
      if (waiting.length >= MOST_WAITING || waitingChars > MOST_WAITING_CHARS) settleAnswers();
    },
    /** Records a menu. It is counted for the next report. */
    noteMenu: (tools: readonly object[], session?: CallSession): void => {
      menus.push({ tools, session });
      if (menus.length >= MOST_WAITING_MENUS) void settleMenus();
    },
    settle,
    /** Settles the counts of sessions; totals end with the process. */
    close: (): Promise<void> => {
      menus = menus.filter(({ session }) => session !== undefined);
      return settle();
    },
    /** `read` returns the counts of one session, if wanted, after everything was counted. */
    report: async (view: View, read: () => Promise<Tokens | undefined>): Promise<LedgerReport> => {
      await settle();
      const tokens = (await read()) ?? total;
      return { tokens, total: sumTokens(tokens), everything: await listingCost(view.shown) };
    },
  };
}

/** Counts the whole text. Tokens outside the asides belong to the answer's own cause. */
function countAnswer({ cause, text, asides, tokens, counted, countTokens }: LedgerEntry): Tokens {
  const counts = { ...NO_TOKENS };
  let unattributed = tokens ?? countLongText(text, countTokens);
  counted?.(unattributed);
  for (const aside of asides) {
    const share = Math.min(unattributed, countTokens(aside.text));
    counts[aside.cause] += share;
    unattributed -= share;
  }
  counts[cause] += unattributed;
  return counts;
}

/** Tokens for listing every entry. */
const listingCost = memoizeByObject((shown: readonly Entry[]) =>
  countMenu([...nativeTools(shown)].map(([name, entry]) => toNativeTool(name, entry))),
);

export interface CallBudget {
  readonly limits: Limits;
  /** Tokens left of the session's budget; infinite without one. */
  readonly tokensLeft: number;
}

/** Bytes of an average token, to turn the limit of bytes into tokens. */
const BYTES_PER_TOKEN = 4;

/**
 * The limits of a call within what remains of its session's budget, shared by all requests of the call.
 *
 * @throws BUDGET_EXCEEDED if nothing remains. Reading the session itself is always allowed.
 */
export function callBudget(
  session: CallSession | undefined,
  configured: Limits,
  targets: readonly string[],
): CallBudget {
  const limits = withinBytes(configured);
  const limit = limits.sessionTokens;
  const unlimited = { limits, tokensLeft: Number.POSITIVE_INFINITY };
  if (!session || limit === Number.POSITIVE_INFINITY) return unlimited;
  const used = sumTokens(session.memory.tokens);
  const tokensLeft = limit - used;
  if (tokensLeft <= 0) {
    if (targets.length === 1 && isSessionAddress(targets[0]!)) return unlimited;
    throw problem("BUDGET_EXCEEDED", { handle: session.handle, used, limit });
  }
  // `resultTokens: Infinity` means whole results: never shrink them.
  if (limits.resultTokens === Number.POSITIVE_INFINITY) return { limits, tokensLeft };
  const share = Math.floor(tokensLeft / Math.max(1, targets.length));
  return {
    limits: { ...limits, resultTokens: Math.max(1, Math.min(limits.resultTokens, share)) },
    tokensLeft,
  };
}

function withinBytes(limits: Limits): Limits {
  const { answerBytes, resultTokens } = limits;
  if (resultTokens === Number.POSITIVE_INFINITY || answerBytes === Number.POSITIVE_INFINITY) return limits;
  return { ...limits, resultTokens: Math.min(resultTokens, Math.floor(answerBytes / BYTES_PER_TOKEN)) };
}
