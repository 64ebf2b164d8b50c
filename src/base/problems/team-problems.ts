import type { ProblemRow } from "./format-message.ts";

/** The problems of gateways that several people use. See `problems.ts`. */
export const TEAM_PROBLEMS = {
  ADMIN_NEEDED: {
    sentence: "{name} is for callers with the scope {scope}.",
    next: "Open the console by the one-time link that the gateway printed.",
    when: "The HTTP API was asked for something that only the people who run the gateway may see or do.",
  },
  LIMIT_REACHED: {
    sentence: "The limit of {name} is reached: {limit}.",
    next: "Nothing ran. It is free again {free}; the owner of the gateway can raise it.",
    when: "A person, or all people together at a server, have used up what `limits` of the config allow.",
  },
} as const satisfies Record<string, ProblemRow>;
