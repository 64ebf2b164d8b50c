import type { Claim } from "./proofs.ts";

/** Threats to a gateway. Tests whose title begins with an id count too. */
export const THREATS = {
  T1: {
    says: "a token of somebody else is accepted or passed on",
    tests: ["callers' tokens never reach a server, and servers' tokens never reach a caller"],
  },
  T2: { says: "a confused deputy at a login", tests: ["an answer with the wrong state is ignored"] },
  T3: {
    says: "a login is mixed up with that of another issuer",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the title as it is written
    tests: ["a login is refused for ${what}"],
  },
  T4: {
    says: "a session or handle is hijacked",
    tests: ["handles in arguments belong to the principal that got them"],
  },
  T5: {
    says: "DNS rebinding and requests from other pages",
    tests: ["accepts only Host and Origin of this machine, for any method and path"],
  },
  T6: {
    says: "requests to private addresses",
    tests: ["refuses every spelling of a private address", "connects only to the address that was checked"],
  },
  T7: {
    says: "commands are injected",
    tests: ["a server gets its arguments unchanged and only declared variables"],
  },
  T8: { says: "definitions are poisoned", tests: [] },
  T9: { says: "an approved definition changes", tests: [] },
  T10: {
    says: "names shadow each other",
    tests: ["do no harm as tools, arguments, domains, handles and help paths"],
  },
  T11: {
    says: "search is manipulated",
    tests: ["a tool stuffed with words wins no other tool's query and fills no page"],
  },
  T12: { says: "scopes are bypassed", tests: [] },
  T13: {
    says: "an answer belongs to somebody else",
    tests: [
      "get their own answers when many call at once",
      "sessions: 1,000 at once in %s each get their own answers",
    ],
  },
  T14: { says: "secrets leave", tests: ["headers reach the server and appear in no message"] },
  T15: { says: "results give instructions", tests: [] },
  T16: {
    says: "skills reach further than they may",
    tests: ["a script is text and never runs", "allowed-tools grants nothing"],
  },
  T17: {
    says: "a caller or a server exhausts the gateway",
    tests: ["refuses schema bombs with the reason; their neighbours work"],
  },
  T18: {
    says: "headers and body differ",
    tests: [
      "refuses a request whose header names another method than its body",
      "refuses headers that are missing, not Base64, or different",
    ],
  },
  T19: {
    says: "state of a round is tampered with or repeated",
    tests: ["tampered, replayed, swapped, foreign and expired state is refused"],
  },
  T20: { says: "the audit log is evaded or changed", tests: [] },
  T21: { says: "a folder attacks", tests: [] },
  T22: {
    says: "permissions of the agent are bypassed",
    tests: ["without anybody to ask, every question is a no", "sensitive paths ask whatever the rules allow"],
  },
  T23: { says: "text runs as code in a page, or another page uses the console", tests: [] },
  T24: {
    says: "Keyhole's own dependencies attack",
    tests: ["only the guarded fetch sends requests, and only listeners import network modules"],
  },
} as const satisfies Record<string, Claim>;
