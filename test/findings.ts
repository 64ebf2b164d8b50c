import type { Claim } from "./proofs.ts";

/** Weaknesses that an audit of the running program found, each with the tests and figures that hold its repair. */
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
  "judged-call": {
    says: "a call other than the judged one ran",
    tests: [
      "T22: dry_run among a tool's own arguments neither skips the question nor runs the call (%s)",
      "T22: a yes to one call runs no other that took its name while the question was open (%s, %s)",
      "T22: a name that leads to a destructive tool by the time of its call does not run it unasked (%s)",
      "T22: a yes in a later turn runs the call that was asked about, and no other that took its name (%s)",
      "T22: a yes to a question that nobody was asked runs nothing (%s)",
      "T22: a yes of an MCP client counts for the tool that it was asked about, not for one that took its name",
      "an entry that appears or becomes destructive after the tools were made asks for approval",
      "%s decides as decideCall does",
    ],
  },
  "session-scopes": {
    says: "a session lent its scopes to later tokens",
    tests: [
      "T4 a session does not lend a later token the scopes of the token that opened it",
      "T4: a stored result is closed to its principal once the scope of its tool is gone",
      "T4: a plan answers nothing again that its principal may no longer see",
    ],
  },
  "hinted-lane": {
    says: "a hint let a reader run a tool that writes",
    tests: ["T12 a hint to read does not let get run a tool whose name says that it writes"],
  },
  "shell-rules": {
    says: "commands of a shell got past their rules",
    tests: [
      "has at least 800 commands, each once, and at least 120 everyday ones",
      "is classified as expected, without one false allow",
      "is classified as expected by rules for whole programs",
    ],
  },
  "whole-question": {
    says: "a question was cut",
    tests: [
      "a question shows all of what will run, unseen characters by name",
      "is shown whole, page by page, and needs a yes on every page",
    ],
  },
  bounds: {
    says: "one principal used up the stores of all",
    tests: [
      "T17: a reader that sends 10,001 keys does not make another's charge run twice",
      "T17: keys on 10,000 answers of 1 MB keep few bytes, and none of the calls runs again",
      "T17: a principal that opens 20,000 sessions ends only its own",
      "T17: large results of tasks push out the oldest ones of their own principal alone",
      "T17: a request in chunks of one byte takes little more memory than its bytes",
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
  "loop-delay": {
    says: "floods and hostile definitions stalled the event loop",
    tests: [],
    figures: ["loop-delay"],
  },
  "non-interference": {
    says: "answers told of hidden entries",
    tests: [
      "T12 entries out of a caller's scopes change no byte of any answer",
      "T12 entries out of a caller's scopes change no byte of what MCP clients are told",
      "T12 in PostgreSQL, entries out of a caller's scopes change no byte of any answer",
      "T12 clients of %s hear nothing of documents that they may not see",
      "T12 one principal cannot plant a next step for others, in any number of sessions",
    ],
  },
  "outside-text": {
    says: "text from outside kept hidden characters, and nothing marked it",
    tests: [
      "T8: no operation on any surface shows a raw control, bidi, zero-width or tag character",
      "T8: whatever a tool returns or throws, no face shows it raw",
      "T8: keyhole run prints no character that a terminal obeys, in any format",
      "T15: a result of others is marked with its source, a result of the owner's tools is not",
      "T15: a result that tries to steer the model has a warning before it, and the outcome says so",
    ],
    figures: ["poison-recall", "poison-false-positives"],
  },
  secrets: {
    says: "secrets reached results, logs and telemetry",
    tests: [
      "T14: no planted secret reaches a model, a client, a log, a trace, a session or a stored result",
      "T14: the program prints and keeps no secret of its configuration, not even when it crashes",
      "T14: telemetry carries the shapes of arguments, never their values",
      "sensitive paths ask whatever the rules allow",
    ],
    figures: ["secrets-found"],
  },
  "audit-log": {
    says: "nothing recorded who ran what",
    tests: [
      "T20: a call has a record before it runs and one after it, tied to its answer and to its definition",
      "T20: how a call was decided is recorded: run, dry, approved and by whom, asked, refused, repeated",
      "T20: whichever byte of the log is flipped, the check names the first bad record",
      "T20: keyhole audit verify names the first bad record and its file",
      "T20: no value of arguments or results is in the log, wherever a secret is put",
    ],
  },
  promises: {
    says: "no page said what is promised, and by which test",
    tests: ["every promise of the security page cites a test that exists"],
  },
  faults: {
    says: "faults were not tested",
    tests: [
      "failed-write: the store of %s is old or new, never torn",
      "sessions: 1,000 at once in %s each get their own answers",
      "leak: load leaves no descriptors, timers or growing memory behind",
    ],
  },
  "many-gateways": {
    says: "several gateways had several truths",
    tests: [
      "of three gateways one is killed every few seconds: nothing is lost or doubled, every handle works",
      "what one gateway has revoked is neither shown nor run by another, from that moment on",
      "a replica, which may be behind, is not read",
      "a question of one gateway is answered at another, and counts once",
    ],
    figures: ["doubled-executions", "lost-executions", "foreign-handles"],
  },
  mutation: {
    says: "nothing showed that the tests of decisions would notice a mistake",
    tests: [],
    figures: ["mutation-score"],
  },
} as const satisfies Record<string, Claim>;
