/** The reason for text in an agent's context. */
export const CAUSES = ["menu", "ask", "help", "results", "rules", "skills"] as const;
export type Cause = (typeof CAUSES)[number];

/** Tokens put into an agent's context, by cause. */
export type Tokens = Readonly<Record<Cause, number>>;

export const NO_TOKENS: Tokens = { menu: 0, ask: 0, help: 0, results: 0, rules: 0, skills: 0 };

export function addTokens(left: Tokens, right: Tokens): Tokens {
  const sum = { ...left };
  for (const cause of CAUSES) sum[cause] += right[cause];
  return sum;
}

export function sumTokens(tokens: Tokens): number {
  return CAUSES.reduce((sum, cause) => sum + tokens[cause], 0);
}
