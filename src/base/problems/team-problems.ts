import type { ProblemRow } from "./format-message.ts";

/** The problems of gateways that several people use. See `problems.ts`. */
export const TEAM_PROBLEMS = {
  ADMIN_NEEDED: {
    sentence: "{name} is for callers with the scope {scope}.",
    next: "Open the console by the one-time link that the gateway printed, or log in as somebody of a group with admin.",
    when: "The HTTP API was asked for something that only the people who run the gateway may see or do.",
  },
  ISSUER_UNUSABLE: {
    sentence: "The issuer {issuer} cannot be used: {reason}.",
    next: "Correct people.issuer: it is the exact issuer that {issuer}/.well-known/openid-configuration names, and this machine must reach it.",
    when: "The issuer of people's logins cannot be reached, publishes nothing about itself, or is another one.",
  },
  NOT_ADMITTED: {
    sentence: "{person} may not use this gateway: {reason}.",
    next: "Ask the people who run it to give one of your groups a row in people.groups.",
    when: "Somebody has logged in who is in none of the groups that the config names.",
  },
  PROFILE_REFUSED: {
    sentence: "The profile {name} cannot be used: {reason}.",
    next: "Use the address of your own profile, or ask the people who run the gateway for another.",
    when: "The profile of an address, a key or a group does not exist, or the caller has another one.",
  },
  NOT_LOGGED_IN: {
    sentence: "You are not logged in: {reason}.",
    next: "Log in again.",
    when: "A login to the console was not begun in the same browser, is too old, or the issuer refused it.",
  },
  LIMIT_REACHED: {
    sentence: "The limit of {name} is reached: {limit}.",
    next: "Nothing ran. It is free again {free}; the owner of the gateway can raise it.",
    when: "A person, or all people together at a server, have used up what `limits` of the config allow.",
  },
} as const satisfies Record<string, ProblemRow>;
