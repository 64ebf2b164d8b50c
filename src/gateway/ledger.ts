import { problem } from "../base/problems/problem.ts";
import { countLongText, type TokenCounter } from "../base/tokens/tokens.ts";
import type { View } from "../core/access/view.ts";
import type { Aside, Limits } from "../core/operations/operation.ts";
import {
  addTokens,
  type Cause,
  NO_TOKENS,
  sumTokens,
  type Tokens,
} from "../core/sessions/tokens-by-cause.ts";
import { type CallSession, isSessionAddress } from "../core/storage/session-store.ts";
import { countMenu } from "../core/surfaces/menu.ts";
import { nativeTools, toNativeTool } from "../core/surfaces/native-tools.ts";

/** An answer as it goes into an agent's context. */
export interface LedgerEntry {
  readonly cause: Cause;
  readonly text: string;
  readonly asides: readonly Aside[];
  readonly session?: CallSession | undefined;
  /** The tokens of the whole text, if they are known already. */
  readonly tokens?: number | undefined;
  /** Called with the tokens of the whole text once they are counted. Must not throw. */
  readonly counted?: ((tokens: number) => void) | undefined;
}

export interface LedgerReport {
  /** Tokens put into the context of the session, or of all of them, by cause. */
  readonly tokens: Tokens;
  readonly total: number;
  /** Tokens that listing every visible tool would cost on each request. */
  readonly everything: number;
}

/** Counts the tokens put into agents' contexts. Counting happens after the answer has gone out. */
export interface Ledger {
  note(given: LedgerEntry, countTokens: TokenCounter): void;
  /** Records a menu that was shown. It is counted for the next report. */
  noteMenu(tools: readonly object[], session?: CallSession): void;
  /** Counts the answers and menus that wait to be counted. */
  settle(): Promise<void>;
  /** Settles the counts of sessions; totals end with the process. */
  close(): Promise<void>;
  /** `read` gives the counts of a session, after everything was counted. */
  report(view: View, read?: () => Promise<Tokens>): Promise<LedgerReport>;
}

interface ShownMenu {
  readonly tools: readonly object[];
  readonly session: CallSession | undefined;
}

/** More answers than this wait only while the event loop is blocked, and would outlive a collection of garbage. */
const MOST_WAITING = 64;
const MOST_WAITING_CHARS = 1_000_000;
const MOST_WAITING_MENUS = 1_000;

export function createLedger(loadCounter: () => Promise<TokenCounter>): Ledger {
  const everything = createListingCosts(loadCounter);
  let total = NO_TOKENS;
  let waiting: { readonly given: LedgerEntry; readonly countTokens: TokenCounter }[] = [];
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
    const counting = waiting;
    waiting = [];
    waitingChars = 0;
    const spent = new Map<string | undefined, { tokens: Tokens; session: CallSession | undefined }>();
    for (const { given, countTokens } of counting) {
      const { session } = given;
      const before = spent.get(session?.handle)?.tokens ?? NO_TOKENS;
      spent.set(session?.handle, { tokens: addTokens(before, countGiven(given, countTokens)), session });
    }
    for (const { tokens, session } of spent.values()) spend(tokens, session);
  }

  async function countMenus(): Promise<void> {
    const shown = menus;
    if (shown.length === 0) return;
    menus = [];
    const countTokens = await loadCounter();
    for (const { tools, session } of shown) {
      spend({ ...NO_TOKENS, menu: await countMenu(tools, countTokens) }, session);
    }
  }

  /** Callers that arrive during a count wait for it. */
  function settleMenus(): Promise<void> {
    counted = counted.then(countMenus).catch(() => {});
    return counted;
  }

  async function settle(): Promise<void> {
    settleAnswers();
    await settleMenus();
    await saved;
  }

  return {
    note: (given, countTokens) => {
      if (waiting.length === 0) setImmediate(settleAnswers).unref();
      waiting.push({ given, countTokens });
      waitingChars += given.text.length;
      if (waiting.length >= MOST_WAITING || waitingChars > MOST_WAITING_CHARS) settleAnswers();
    },
    noteMenu: (tools, session) => {
      menus.push({ tools, session });
      if (menus.length >= MOST_WAITING_MENUS) void settleMenus();
    },
    settle,
    close: () => {
      menus = menus.filter(({ session }) => session !== undefined);
      return settle();
    },
    report: async (view, read) => {
      await settle();
      const tokens = (await read?.()) ?? total;
      return { tokens, total: sumTokens(tokens), everything: await everything(view) };
    },
  };
}

/** Counts the whole text; everything but the asides belongs to the answer's own cause. */
function countGiven(
  { cause, text, asides, tokens, counted }: LedgerEntry,
  countTokens: TokenCounter,
): Tokens {
  const counts = { ...NO_TOKENS };
  let rest = tokens ?? countLongText(text, countTokens);
  counted?.(rest);
  for (const aside of asides) {
    const share = Math.min(rest, countTokens(aside.text));
    counts[aside.cause] += share;
    rest -= share;
  }
  counts[cause] += rest;
  return counts;
}

/** Counts the cost of listing everything once for each catalog and view, and only on demand. */
function createListingCosts(loadCounter: () => Promise<TokenCounter>): (view: View) => Promise<number> {
  const known = new Map<string, Promise<number>>();
  let version = "";
  return (view) => {
    if (view.version !== version) known.clear();
    version = view.version;
    const cost = known.get(view.scopeKey) ?? loadCounter().then((count) => countListing(view, count));
    known.set(view.scopeKey, cost);
    return cost;
  };
}

function countListing(view: View, countTokens: TokenCounter): Promise<number> {
  const tools = [...nativeTools(view.shown)].map(([name, entry]) => toNativeTool(name, entry));
  return countMenu(tools, countTokens);
}

export interface CallBudget {
  readonly limits: Limits;
  /** Tokens left of the session's budget; infinite without one. */
  readonly tokensLeft: number;
}

/** The usual size of a token, for answers that only count tokens. */
const BYTES_PER_TOKEN = 4;

/**
 * Returns the limits of a call within the rest of its session's budget, shared by all its requests.
 *
 * @throws BUDGET_EXCEEDED if nothing is left, except for reading the session itself.
 */
export function callBudget(
  session: CallSession | undefined,
  given: Limits,
  targets: readonly string[],
): CallBudget {
  const limits = withinBytes(given);
  const limit = limits.sessionTokens;
  if (!session || limit === Number.POSITIVE_INFINITY) return { limits, tokensLeft: Number.POSITIVE_INFINITY };
  const used = sumTokens(session.memory.tokens);
  if (used < limit) {
    // `resultTokens: Infinity` means whole results: never shrink them.
    const whole = limits.resultTokens === Number.POSITIVE_INFINITY;
    const share = whole ? limits.resultTokens : Math.floor((limit - used) / Math.max(1, targets.length));
    return {
      limits: { ...limits, resultTokens: Math.max(1, Math.min(limits.resultTokens, share)) },
      tokensLeft: limit - used,
    };
  }
  if (targets.length === 1 && isSessionAddress(targets[0]!))
    return { limits, tokensLeft: Number.POSITIVE_INFINITY };
  throw problem("BUDGET_EXCEEDED", { handle: session.handle, used, limit });
}

function withinBytes(limits: Limits): Limits {
  const { answerBytes, resultTokens } = limits;
  if (resultTokens === Number.POSITIVE_INFINITY || answerBytes === Number.POSITIVE_INFINITY) return limits;
  return { ...limits, resultTokens: Math.min(resultTokens, Math.floor(answerBytes / BYTES_PER_TOKEN)) };
}
