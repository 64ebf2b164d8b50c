const REASONS = ["stop", "length", "content-filter", "tool-calls", "error"] as const;

/** Why an answer ended: `length` if it was cut off, `content-filter` if the provider withheld it. */
export type FinishReason = (typeof REASONS)[number] | "other";

/** Reads the finish reason of an AI SDK model. */
export function toFinishReason(given: string): FinishReason {
  return REASONS.find((reason) => reason === given) ?? "other";
}
