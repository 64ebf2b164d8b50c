import type { Limits } from "../../core/operations/operation.ts";

interface ClientRow {
  /** Matches the name that the client gives of itself. */
  readonly name: RegExp;
  /** Characters of a result that the model still reads whole. Absent: no limit is known. */
  readonly shown?: number;
  /** The client shows the raw JSON, so base64 images would reach the model as text. */
  readonly readsBytes?: true;
  /** The version that was measured, and what it does with longer results. */
  readonly measured: string;
}

/** Characters that Keyhole's tools ask for in their `_meta`. Measured: Claude Code 2.1.325 shows that many whole. */
export const LARGEST_RESULT = 200_000;

/** Clients that cut results, put them into a file or show them as JSON. A client of another name gets the limits of the gateway. */
export const CLIENTS: readonly ClientRow[] = [
  {
    name: /\bcline\b/i,
    shown: 8_000,
    readsBytes: true,
    measured: "Cline CLI 3.0.65 shows the result's JSON, with its middle cut",
  },
  { name: /\bcontinue-/i, readsBytes: true, measured: "Continue 1.5.47 shows the JSON of the content" },
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
  const shown = rowOf(client)?.shown;
  return shown === undefined ? {} : { answerBytes: shown * RESULTS };
}

/** Whether a client shows a model the bytes of pictures and files as text. */
export function readsBytes(client: string | undefined): boolean {
  return rowOf(client)?.readsBytes === true;
}

function rowOf(client: string | undefined): ClientRow | undefined {
  return client === undefined ? undefined : CLIENTS.find(({ name }) => name.test(client));
}
