/** A fault, and the titles of the tests that cause it. A part of a title is enough. */
export interface Fault {
  readonly says: string;
  readonly tests: readonly [string, ...string[]];
}

/** The faults that Keyhole survives. Each is caused by tests over the real program or the real parts. */
export const FAULTS = {
  "crash-mid-call": {
    says: "a server crashes during a call",
    tests: [
      "a crash during a call names the server and the cause, and the call runs once",
      "reads are repeated once after a crash, writes never",
      "a server that keeps crashing is marked as down with the reason",
    ],
  },
  "bad-start": {
    says: "a server exits at its start, never answers, is missing, or prints a banner",
    tests: [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the title as it is written
      "a server that ${what} is listed as down, with the reason",
      "a missing command is reported",
      "garbage, duplicate ids and unknown ids are ignored",
      "a server that exits on the probe is used in the older protocol",
    ],
  },
  hang: {
    says: "a server hangs",
    tests: [
      "a hanging call ends at its limit, is cancelled upstream, and frees its slot",
      "several hanging calls in a row open the breaker, and it closes again",
      "two hundred hanging calls do not affect the other servers",
    ],
  },
  network: {
    says: "the network is slow, cuts, resets or swallows",
    tests: [
      "network: latency and a narrow line delay a call and nothing else",
      "network: an answer that is cut after %d bytes fails its call, which ran at most once",
      "network: resets are named, and the server is used again when they end",
      "network: a line that swallows everything ends in a timeout, and heals",
      "closes idle connections: reads are repeated, writes are not",
      "breaks off its answer: the call fails at once, and runs once",
      "a TLS error is named",
    ],
  },
  "client-gone": {
    says: "a client disconnects or cancels",
    tests: [
      "a client that hangs up in the middle of a stream stops its call",
      "aborts the signal of the tool",
      "the caller's signal reaches the server",
    ],
  },
  "slow-consumer": {
    says: "a client does not read",
    tests: [
      "drops a client of the %s protocol that does not read, and stops its call",
      "slow-consumer: a client that does not read stdout is served when it reads again",
    ],
  },
  "half-open": {
    says: "connections send no request, or half of one",
    tests: [
      "half-open: 1,100 connections that send %s do not keep a request out",
      "half-open: a webhook takes its signed body while others hold half of one",
    ],
  },
  "huge-result": {
    says: "a result is huge",
    tests: ["a line up to the size limit is a normal result", "no answer carries half a surrogate pair"],
  },
  "long-line": {
    says: "a line is too long, or never ends",
    tests: [
      "a line over the size limit ends only that server, with the reason",
      "long-line: a line that never ends fails its call and ends only that server",
    ],
  },
  "malformed-client": {
    says: "a client sends malformed messages",
    tests: [
      "answers every body once, and the server keeps running",
      "answers every request of a client of 2026-07-28 once",
      "malformed-client: no line on stdin keeps the next request from its answer",
    ],
  },
  "malformed-upstream": {
    says: "a server sends malformed messages",
    tests: [
      "garbage, duplicate ids and unknown ids are ignored",
      "malformed-upstream: a result of any shape is an answer or a named problem",
    ],
  },
  "schema-bomb": {
    says: "a schema is deep, wide, recursive or costly",
    tests: [
      "refuses schema bombs with the reason; their neighbours work",
      "schema-bomb: %s are refused as too costly to check",
      "schema-bomb: a large call of an ordinary tool is checked in full",
      "T17: $depth levels of $keyword in the $place of a tool leave its neighbour working",
      "a definition that is nested too deeply does not affect the others",
    ],
  },
  redos: { says: "a pattern explodes", tests: ["checks an exploding pattern in linear time"] },
  "search-abuse": {
    says: "a query is huge or strange",
    tests: [
      "search-abuse: queries of any size and script are answered in %s",
      "takes a megabyte of anything",
    ],
  },
  "index-damage": {
    says: "a file of the index is damaged",
    tests: [
      "every bit flip and truncation is found out",
      "a start reads it, another catalog updates the difference, and damage causes a reported rebuild",
      "a damaged, cut or old index is not used",
    ],
  },
  "kill-during-write": {
    says: "a process is killed while it writes",
    tests: [
      "a process killed during a write leaves the old state or the new one",
      "is intact after its writer was killed",
      "a line cut by a crash is skipped, and an interrupted call gets a result",
    ],
  },
  "failed-write": {
    says: "the nth write of a store fails",
    tests: [
      "failed-write: the store of %s is old or new, never torn",
      "failed-write: a conversation keeps every message that was written whole, and says what failed",
      "failed-write: the learning log keeps its events, and takes new ones after a failure",
      "failed-write: sessions in SQLite are old or new on a disk that fills up",
      "failed-write: logins in SQLite are old or new on a disk that fills up",
    ],
  },
  "disk-full": {
    says: "the disk is full",
    tests: ["disk-full: calls work without any space, and everything works when it is back"],
  },
  "no-descriptors": {
    says: "descriptors run out",
    tests: ["no-descriptors: idle connections leave descriptors for requests"],
  },
  "reload-invalid": {
    says: "a config becomes invalid while serving",
    tests: [
      "500 saves of broken files change nothing",
      "a mistake is reported with file, line, column and the nearest key",
    ],
  },
  "reload-valid": {
    says: "a config changes while serving",
    tests: ["an edit starts and stops only the servers it concerns, and is announced once"],
  },
  flapping: {
    says: "a list changes without end, or has no end",
    tests: [
      "a thousand change notifications cause one listing",
      "an endless list is cut",
      "a list with a repeated cursor is cut",
    ],
  },
  flood: {
    says: "a server floods with notifications",
    tests: [
      "flood: of many notifications the latest of each kind arrives",
      "flood: answers between notifications do not let a flood through",
      "flood: a server that floods with %s messages stays usable, and so does its neighbour",
      "flood: progress of a server over HTTP is coalesced in the %s protocol",
    ],
  },
  "clock-jump": {
    says: "the clock is set",
    tests: [
      "clock-jump: a clock that is set by %d day ends no session, handle or call",
      "clock-jump: sessions of the older protocol outlive a clock that is set",
    ],
  },
  sessions: {
    says: "a thousand sessions at once",
    tests: ["sessions: 1,000 at once in %s each get their own answers"],
  },
  "reconnect-storm": {
    says: "everybody reconnects at once",
    tests: ["reconnect-storm: 500 calls after a crash start the server once", "goes down and comes back"],
  },
  "login-storm": {
    says: "a token expires under load",
    tests: ["200 calls with an expired token renew it once, also across two openings of the file"],
  },
  "process-leak": {
    says: "processes outlive their gateway",
    tests: [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the title as it is written
      "no process of ${what} is left after close",
      "no process is left of a server that crashed after a fork",
      "the next gateway ends the processes that a killed one left behind",
      "a gateway that exits without closing ends its servers",
    ],
  },
  leak: {
    says: "memory, descriptors or timers leak",
    tests: ["leak: load leaves no descriptors, timers or growing memory behind"],
  },
  shutdown: {
    says: "a signal ends the program under load",
    tests: [
      "shutdown: a signal lets running calls finish, and the exit code is 0",
      "shutdown: a second signal ends the program at once, and nothing of it is left",
      "limits the concurrent calls of a caller; shutdown lets them finish",
    ],
  },
  "two-gateways": {
    says: "two gateways share a home",
    tests: [
      "two-gateways: both serve from one home, and one goes on when the other is killed",
      "the changes of all gateways count, and each reads those of the others",
      "approvals of another process, and their loss, count without a restart",
    ],
  },
} as const satisfies Record<string, Fault>;
