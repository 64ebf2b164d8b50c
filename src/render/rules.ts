import type { Rule } from "../schema/entry.ts";

type AnyRule = Pick<Rule, "domain" | "text"> & { readonly category?: string | undefined };

/** The mark by which a session knows that it has received a rule. */
export function ruleId({ domain, category }: Omit<AnyRule, "text">): string {
  return `${domain}/${category ?? ""}`;
}

/** A rule as a model reads it. */
export function ruleText({ domain, category, text }: AnyRule): string {
  return `Rules for ${category ?? domain}: ${text}`;
}
