import type { Claim } from "./proofs.ts";

/** Weaknesses that an audit of the running program found, each with the tests that hold its repair. */
export const FINDINGS = {
  "folder-code": {
    says: "opening a folder ran its code",
    tests: ["T21: keyhole %s runs no config of a folder that nobody has trusted"],
  },
  "agents-file": {
    says: "AGENTS.md of an untrusted folder reached the model",
    tests: [
      "T21: AGENTS.md reaches the model once the folder is trusted, and not before",
      "T21: a link that leads out of the project is not read as its AGENTS.md",
    ],
  },
  "server-consent": {
    says: "commands of an mcp.json ran before any consent",
    tests: [
      "T21: no command of an mcp.json runs and no secret leaves before a person has consented",
      "T21: a server that is added or changed while serving waits, and the others keep serving",
    ],
  },
  "approved-program": {
    says: "approvals did not bind the program",
    tests: ["T9: another program under the same label starts without approvals"],
  },
  "compile-cache": {
    says: "compiled code lay in a shared folder",
    tests: [
      "T21: compiled code is kept in a folder of the owner alone, never in the shared temporary folder",
    ],
  },
  "self-approval": {
    says: "a model could approve for its person",
    tests: [
      "T9: a model is told that a person has to approve, and no command to do so",
      "T9: without a terminal, approving needs the hash of exactly what was listed",
    ],
  },
  "session-scopes": {
    says: "a session lent its scopes to later tokens",
    tests: ["T4 a session does not lend a later token the scopes of the token that opened it"],
  },
  "hinted-lane": {
    says: "a hint let a reader run a tool that writes",
    tests: ["T12 a hint to read does not let get run a tool whose name says that it writes"],
  },
  "whole-question": {
    says: "a question was cut",
    tests: ["a question shows all of what will run, unseen characters by name"],
  },
  bounds: {
    says: "one principal used up the stores of all",
    tests: [
      "T17: a reader that sends 10,001 keys does not make another's charge run twice",
      "T17: keys on 10,000 answers of 1 MB keep few bytes, and none of the calls runs again",
      "T17: a principal that opens 20,000 sessions ends only its own",
    ],
  },
  floods: {
    says: "a flood deafened the gateway",
    tests: ["flood: a server that floods with %s messages stays usable, and so does its neighbour"],
  },
  "half-open": {
    says: "unfinished connections locked HTTP",
    tests: ["half-open: 1,100 connections that send %s do not keep a request out"],
  },
  "bad-definition": {
    says: "one schema took its server down or stalled the gateway",
    tests: [
      "T17: $depth levels of $keyword in the $place of a tool leave its neighbour working",
      "schema-bomb: %s are refused as too costly to check",
    ],
  },
  "non-interference": {
    says: "answers told of hidden entries",
    tests: [
      "T12 entries out of a caller's scopes change no byte of any answer",
      "T12 clients of %s hear nothing of documents that they may not see",
      "T12 one principal cannot plant a next step for others, in any number of sessions",
    ],
  },
  faults: {
    says: "faults were not tested",
    tests: [
      "failed-write: the store of %s is old or new, never torn",
      "sessions: 1,000 at once in %s each get their own answers",
    ],
  },
} as const satisfies Record<string, Claim>;
