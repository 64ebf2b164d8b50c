import type { LedgerReport } from "../ledger.ts";

/** Tokens in a model's context, by cause. */
export interface ContextReport {
  readonly menu: number;
  /** Search results, and the rules and skills that came with them. */
  readonly discovery: number;
  readonly results: number;
  /** Messages and instructions. */
  readonly history: number;
  /** The cost of listing every tool in each request. */
  readonly everything: number;
}

export interface Requests {
  /** The number of requests. Each carries the menu, and the ledger counts all of them. */
  readonly requests: number;
  /** Tokens of the last request. */
  readonly lastInput: number;
}

/** Breaks down the last request. Tokens that the ledger does not know are the conversation. */
export function toContextReport(ledger: LedgerReport, { requests, lastInput }: Requests): ContextReport {
  const { tokens, everything } = ledger;
  const menu = Math.round(tokens.menu / Math.max(1, requests));
  const discovery = tokens.ask + tokens.help + tokens.rules + tokens.skills;
  const history = Math.max(0, lastInput - menu - discovery - tokens.results);
  return { menu, discovery, results: tokens.results, history, everything };
}
