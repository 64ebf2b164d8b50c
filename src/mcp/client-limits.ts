import type { Limits } from "../operations/operation.ts";

interface ClientRow {
  /** Matches the name that the client gives of itself. */
  readonly name: RegExp;
  /** Characters of a result that the model still reads whole. */
  readonly shown: number;
  /** The version that was measured, and what it does with longer results. */
  readonly measured: string;
}

/** Characters that Keyhole's tools ask for in their `_meta`. Measured: Claude Code 2.1.325 shows that many whole. */
export const LARGEST_RESULT = 200_000;

/** Clients that cut results or put them into a file. A client of another name gets the limits of the gateway. */
export const CLIENTS: readonly ClientRow[] = [
  { name: /\bcline\b/i, shown: 8_000, measured: "Cline CLI 3.0.65 cuts the middle of the result's JSON" },
  {
    name: /\bcopilot\b/i,
    shown: 20_000,
    measured: "Copilot CLI 1.0.102 writes 22 KB to a file, shows 500 characters",
  },
  { name: /\bqwen\b/i, shown: 30_000, measured: "Qwen Code 0.24.4 writes it to a file" },
  { name: /\bgemini\b/i, shown: 40_000, measured: "Gemini CLI 0.61.0 shows the first 8 K and the last 32 K" },
  { name: /\bcodex\b/i, shown: 50_000, measured: "Codex 0.166.0 cuts the middle" },
  {
    name: /\bclaude-code\b/i,
    shown: LARGEST_RESULT,
    measured: "Claude Code 2.1.325 writes it to a file; without that `_meta`, from 52,000 characters on",
  },
];

/** The share that results may take; headings, warnings and next steps need the rest. */
const RESULTS = 0.9;

/** The limits of answers to a client, by the name that it gives of itself. */
export function limitsOf(client: string | undefined): Partial<Limits> {
  const known = client === undefined ? undefined : CLIENTS.find(({ name }) => name.test(client));
  return known ? { answerBytes: known.shown * RESULTS } : {};
}
