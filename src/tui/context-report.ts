import type { LedgerReport } from "../operations/ledger.ts";

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

/** The ledger and the input of the last request: what the ledger does not know is what was said. */
export function toContextReport({ tokens, everything }: LedgerReport, lastInput: number): ContextReport {
  const discovery = tokens.ask + tokens.help + tokens.rules + tokens.skills;
  const known = tokens.menu + discovery + tokens.results;
  return {
    menu: tokens.menu,
    discovery,
    results: tokens.results,
    history: Math.max(0, lastInput - known),
    everything,
  };
}
