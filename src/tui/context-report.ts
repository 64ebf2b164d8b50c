import type { LedgerReport } from "../ledger.ts";

/** Tokens in a model's context, by why they are there. */
export interface ContextReport {
  readonly menu: number;
  /** What was shown to find tools, and what came with them: rules and skills. */
  readonly discovery: number;
  readonly results: number;
  /** What was said, and instructions. */
  readonly history: number;
  /** What a list of every tool would put there with every request. */
  readonly everything: number;
}

export interface Requests {
  /** How many there were: each carries the menu, and the ledger counts all of them. */
  readonly requests: number;
  /** Tokens of the last one. */
  readonly lastInput: number;
}

/** What the last request carried. What the ledger does not know of it is what was said. */
export function toContextReport(ledger: LedgerReport, { requests, lastInput }: Requests): ContextReport {
  const { tokens, everything } = ledger;
  const menu = Math.round(tokens.menu / Math.max(1, requests));
  const discovery = tokens.ask + tokens.help + tokens.rules + tokens.skills;
  const history = Math.max(0, lastInput - menu - discovery - tokens.results);
  return { menu, discovery, results: tokens.results, history, everything };
}
