/** Roles of tools in sentences. `params`: the field for arguments; `dry_run`: asks for one. Surfaces may omit roles. */
export const ROLES = ["ask", "help", "get", "exec", "batch", "run", "params", "dry_run"] as const;

/** Sentences that a terminal replaces by its own: the reader is the owner and types flags. */
export const STEPS = {
  allow_write: "Only the owner of the gateway can allow writing.",
  find_approver:
    "Tell the person that this call needs a client that can ask them, or an approver at the gateway.",
  approve_call:
    "Tell the person to type keyhole approve {call} in a terminal: it shows exactly this and lets it run once.",
  perform_plan: 'To perform exactly these effects, call {run} with plan: "{handle}".',
  perform_approved: 'If a person approves these effects, {run} performs them with plan: "{handle}".',
} as const;

export type Role = (typeof ROLES)[number] | keyof typeof STEPS;
export type ToolNames = Readonly<Partial<Record<Role, string>>> & {
  /** Tools are named by op only: the surface takes no routes. */
  readonly ops?: true;
};

/** A text or number in a sentence. */
export type Fill = string | number;

/** One or more sentences. The surface fills in `{role}`, `fills` every other `{word}`. */
export interface MessageTemplate {
  readonly sentences: string | readonly string[];
  readonly fills?: Readonly<Record<string, Fill>>;
}

const ROLE_NAMES: ReadonlySet<string> = new Set(ROLES);
const WORD = /\{(\w+)\}/g;

/** Formats a template in the words of a surface. Sentences with a role that the surface lacks are left out. */
export function formatMessage({ sentences, fills = {} }: MessageTemplate, words: ToolNames): string {
  return [sentences]
    .flat()
    .map((sentence) => withSteps(sentence, words))
    .filter((sentence) => rolesIn(sentence).every((role) => words[role] !== undefined))
    .map((sentence) => sentence.replace(WORD, (whole, word: string) => wordFor(word, fills, words) ?? whole))
    .join(" ");
}

/** Replaces the steps in a sentence by their sentences. */
export function withSteps(sentence: string, words: ToolNames = {}): string {
  return sentence.replace(WORD, (whole, word: string) =>
    Object.hasOwn(STEPS, word) ? (words[word as Role] ?? STEPS[word as keyof typeof STEPS]) : whole,
  );
}

/** The roles in a sentence. */
export function rolesIn(sentence: string): Role[] {
  return [...sentence.matchAll(WORD)].map(([, word]) => word as Role).filter((word) => ROLE_NAMES.has(word));
}

function wordFor(word: string, fills: Readonly<Record<string, Fill>>, words: ToolNames): string | undefined {
  if (Object.hasOwn(fills, word)) return String(fills[word]);
  return ROLE_NAMES.has(word) ? words[word as Role] : undefined;
}

/** A row of the problem table. */
export interface ProblemRow {
  readonly sentence: string;
  /** The next step. A sentence with a role that the surface lacks is left out. */
  readonly next: string | readonly string[];
  /** When it is raised, for the reference. */
  readonly when: string;
}
