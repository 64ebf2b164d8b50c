import { type TestContext, test } from "vitest";

/**
 * The claims of Keyhole: promises to its users, threats that it resists and faults that it survives. At least one test
 * cites each claim by the beginning of its title (`T9: …`, or `T9, flood: …` for two claims).
 */
export const CLAIMS = {
  promise: {
    "ask:exact-name-survives": "a name, op, route or alias in the query brings its entry to the top",
    "ask:no-starvation": "each of several queries gets its share of the hits",
    "ask:within-budget": "the answer stays within maxTokens for any catalog",
    "ask:shrinks-first": "lines shrink before hits are dropped, and omitted hits are counted",
    "ask:entry-points": "entry points of a matched domain are always shown, hidden entries never",
    "ask:near-names": "a typo is answered with the nearest names",
    "ask:says-why": "an entry that cannot be used now is shown with the reason",
    "ask:rules-once": "rules come with the entries they concern, once per session",
    "ask:segments": "a domain's search segments order and limit its hits",
    "help:taxonomy": "root, domain, group, lane and op paths are described completely",
    "answers:well-formed": "text that leaves is well-formed Unicode, whatever a tool returned",
    "help:within-budget": "the help of any tool keeps a token budget, and the rest is read by a handle",
    "help:example": "every op has at least one example",
    "get:isolated": "one failure does not break the others",
    "get:reads-only": "get never runs a tool that writes",
    "exec:envelope": "success and failure have the same envelope; failures carry help_path",
    "exec:allow-write": "without allowWrite nothing is written",
    "exec:dry-run": "destructive calls run dry where nobody can be asked",
    "exec:idempotency": "an idempotency key runs a call once; reuse with other args is a conflict",
    "exec:approval": "a tool that requires confirmation waits for the approver",
    "exec:deadline": "a hanging call ends at its limit, and the tool's signal is aborted",
    "exec:cancel": "the caller's signal reaches the tool",
    "batch:references": "later requests use earlier results",
    "batch:limit": "a batch over the limit is refused as a whole",
    "run:sandbox": "a script reaches nothing but its host, and ends when a limit is passed",
    "run:plan": "a plan lists exact effects, is approved as a whole, and stops where an effect differs",
    "run:resume": "a run that was interrupted goes on where it stopped, and no effect takes place twice",
    "run:policy": "the effects of a script are exactly those that are allowed or approved",
    "run:recipes":
      "a kept script is a tool: pinned, bounded by the calls it was kept with, edited and removed as a file",
    "run:undo": "a script that fails half-way lists what was done, what was not, and the way back",
    "team:state":
      "what a config keeps in PostgreSQL counts at every replica, and nothing stays in a home folder",
    "team:replicas": "replicas that are killed under load lose, double and mix up nothing",
    "team:drain": "a replica that is told to end loses no call",
    "team:limits":
      "calls, concurrent calls and tokens of a day are limited by person and by server, over all replicas",
    "results:nothing-lost": "a large result is previewed by whole items, and its handle reads all of it",
    "results:answered":
      "select, sort, group, count and grep answer a question about a stored result, page by page",
    "results:rows": "rows of one shape are a table that no value can forge",
    "results:blocks":
      "images, sounds, files and links reach the model as what they are, never as base64 text",
    "clients:lab": "every client of the lab was run in its pinned version, and Keyhole is right inside it",
    "mcp:client-limits": "an answer keeps below the size at which its client would cut it",
    "mcp:seen": "the beginning of the instructions and of the search tool names the domains",
    "handles:bound": "a handle of another principal is as unknown as a made-up one",
    "access:equivalence": "ask and help show exactly what get and exec run, and denied entries do not exist",
    "content:passage": "a question about a long document finds the passage, and its parent gives the whole",
    "content:facts": "the facts that a format extracts can be filtered and sorted by",
    "guidance:dropped": "guidance to entries that the caller may not see is dropped and reported",
    "catalog:all-errors": "start-up reports every wrong definition at once",
    "catalog:version": "the same definitions in another order have the same version",
    "catalog:atomic-swap": "calls in flight finish on the old catalog",
    "registry:versioned":
      "the registry has every op with its schema and kind, and the version of its catalog",
    "schema:hostile": "hostile schemas are refused when they are read, or are harmless",
    "names:hostile": "names such as constructor and __proto__ are ordinary names",
    "names:plain": "a plain name that only one visible entry has works like its op and reaches nothing else",
    "events:shapes-only": "events carry the caller, the call and its outcome, never argument values",
    "learning:bounded":
      "use lifts entries within bounds and per scope; learning is replayable and can be switched off",
    "search:snapshot":
      "a start reads the search snapshot; a damaged, old or incomplete one is detected and rebuilt",
    "search:says-mode": "search says whether it uses vectors, and works without them",
    "search:first-is-final":
      "the first answer after a start is the final one for catalogs under 5,000 entries",
    "search:says-waiting": "an index that still makes vectors says so in its status and in its answers",
    "search:stuffing": "a keyword-stuffed tool neither wins another tool's query nor fills a page",
    "fetch:guarded":
      "outgoing requests reach only public addresses, checked on connection, redirects included",
    "openapi:stays-within": "no args make a call leave the declared origin and path template",
    "openapi:secrets-hidden":
      "credentials go only to the declared origin and appear in no result, error or event",
    "openapi:any-document": "public documents load completely, and unusable operations say why",
    "clients:environment":
      "a server behind Keyhole gets the variables that its client would have given it, and sessions share it",
    "clients:roots":
      "a server sees the roots and the folder of the client that calls, and is not shared across other roots",
    "clients:questions":
      "forms and completions that a server asks for reach the client that calls, or are refused clearly",
    "clients:instructions":
      "a server's instructions are approved like its tools, stand in the menu in short and in help whole",
    "clients:read": "servers of other clients are read with their restrictions, and losses are told",
    "clients:restrictions":
      "a connected client has its own servers and exactly the tools that its own config allowed",
    "clients:undo": "a client that is connected to Keyhole gets its config back byte for byte",
    "upstream:faults": "a faulty server affects no other, and the answer names the server and the cause",
    "upstream:lazy": "with a cached listing a server starts only when one of its entries is called",
    "upstream:processes": "processes of a server end with it, and it inherits only declared variables",
    "mcp:passed-through":
      "progress, logs, apps, documents and prompts of a server pass through every surface",
    "mcp:completion":
      "arguments are completed from their schema or by the server that they belong to, on every surface",
    "mcp:tasks":
      "tools that run as tasks work on every surface, and native clients that ask for a task get one",
    "menu:shortcuts": "chosen entries stand in the menu as tools, within its budget and always the same",
    "upstream:shared": "gateways share a server that is the same, and nothing of one caller reaches another",
    "upstream:idle": "a server that nobody uses ends, and starts again when it is called",
    "daemon:shared":
      "clients share one daemon and its servers, each with its own config, rights and environment",
    "daemon:hand-over": "a newer program takes over from the daemon, and no call is dropped",
    "daemon:crash": "a client outlives the daemon, and calls in flight are answered with a problem",
    "daemon:outlives":
      "the daemon and its servers outlive the client that started them, with nothing of its own",
    "daemon:idle": "a daemon without clients ends and leaves nothing behind",
    "daemon:owner": "no other user can connect to the daemon",
    "daemon:judged": "consents and trust hold through the daemon as without it",
    "upstream:secrets": "no message contains the values of variables in a server's config",
    "upstream:logins":
      "a login is stored, renewed once for all callers, bound to its authorization server, and sent to no other",
    "upstream:people":
      "a server may want each person's own login: a call answers with a link, and goes on as that person and nobody else",
    "upstream:lanes": "a lane is never weaker than what the server declares or the name implies",
    "upstream:names": "the names of upstream entries become routes, always the same ones",
    "upstream:isolated": "servers from the registry work within their limits",
    "upstream:container": "a server with an image runs in a container that ends with it",
    "upstream:limits": "the limits that approval proposes let a server work and keep it from the rest",
    "upstream:real": "servers from the registry are found, read and run through a gateway",
    "upstream:says-kept": "entries from a cached listing are answered like those of a listed server",
    "lifecycle:refresh": "a source is refreshed by its id, and unchanged content is kept",
    "lifecycle:whole": "partial content never replaces complete content: a failing source keeps what it had",
    "lifecycle:single-flight": "concurrent requests for the same work share it",
    "lifecycle:cancel": "work that nobody waits for stops and changes nothing",
    "lifecycle:ttl": "content is read again when its TTL is over, and after failures with growing waits",
    "lifecycle:kept":
      "a start uses cached content while it is fresh; damaged content is detected and fetched again",
    "lifecycle:rebuild": "a rebuild reads everything again, and the old content stays available meanwhile",
    "lifecycle:sources": "sources can be replaced while calls run; only changed ones start or end",
    "lifecycle:config-edit":
      "an invalid config change has no effect and says where; a valid one changes only the difference",
    "lifecycle:webhook": "a signed request refreshes a source once; any other is refused",
    "pins:quarantine": "an unapproved definition is not callable, and its own words are not shown",
    "pins:changed": "a changed definition waits for approval again, with a diff",
    "pins:fail-closed": "without a readable store everything waits for approval",
    "pins:command": "the command line lists and approves pending definitions, and a running gateway notices",
    "markdown:fragments": "fragments are found by their purpose, together with tools, and lead to each other",
    "markdown:prompts": "arguments are filled into a prompt in one pass, and missing required ones are named",
    "markdown:rules": "a rules file comes with the entries of its category, once per session",
    "markdown:match": "a match URI obeys its parameters, its budget and the caller's scopes",
    "markdown:reload":
      "a saved file is in the next answer; an invalid one is reported, and its last valid text stays",
    "markdown:index": "a start reads the index; a damaged, old or stale one is detected and ignored",
    "menu:within-budget": "the menu costs at most 900 tokens for any catalog and does not change with use",
    "tokens:own-principal":
      "each token of an agent is a principal with its own scopes and right to write, until it expires or is revoked",
    "people:login":
      "a client without a token logs in by what the gateway and the issuer tell it, at every address",
    "people:groups":
      "the first listed group of a person decides about rights; people of no listed group are refused in words",
    "people:keys": "a rotated key of the issuer counts without a restart, and the old one no more",
    "people:console":
      "where an issuer is configured, the console opens by its login alone; people without admin see their own",
    "profiles:address": "a profile has an address of its own, with its tools alone",
    "profiles:pinned": "a key or group with a profile gets that profile and nothing without it",
    "profiles:rights": "rights are what caller and profile both allow",
    "mcp:both-eras": "one server answers clients of both protocol revisions alike, over stdio and HTTP",
    "mcp:fast-path": "calls that pass the SDK by are answered with the same bytes as calls that do not",
    "mcp:text-alone": "a model gets only the text of an answer, unless the caller asks for the structure",
    "mcp:surfaces": "four surfaces offer the same operations, with correct annotations and output schemas",
    "mcp:byte-stable": "tools/list has the same bytes before and after discovery, calls and reconnects",
    "mcp:problems": "a refusal is a result with code, message and next step",
    "mcp:get-may-write":
      "get runs writing tools only on a surface without exec and for callers who may write",
    "mcp:skills": "skills are published through the protocol's extension and the View, with correct digests",
    "mcp:argument-headers": "over HTTP, headers that repeat arguments must match them",
    "skills:contained": "a hostile skill is refused with a reason, or reaches nothing outside its folder",
    "skills:tiers": "a query shows no skills, their number, their list, or at most three in full",
    "upstream:skills": "skills of an upstream are entries, and their files are read and checked",
    "mcp:resources": "documents, templates and prompts are listed, read and completed through the View",
    "mcp:changes": "a catalog change is announced once, a tool change only if the tools differ",
    "mcp:approval": "an approval is valid once, for a limited time, for the exact call and principal",
    "mcp:isolation": "no caller receives an answer meant for another",
    "mcp:fidelity": "the native surface passes on definitions, results and progress of upstreams unchanged",
    "mcp:asking": "an untrusted server asks under its label, and never with a page",
    "mcp:real-clients": "third-party clients list, ask, read and run",
    "mcp:cancel": "a call that its client cancels is cancelled in the tool",
    "mcp:http-front": "only requests with an allowed host and origin and a valid token are read",
    "mcp:tokens":
      "a token with a wrong issuer, audience, time, key or algorithm is refused, with where to get one",
    "mcp:http-limits":
      "rate, concurrency, size and depth are bounded for each caller; shutdown lets calls finish",
    "mcp:sessions": "a session belongs to its opener; another caller's id is as unknown as a made-up one",
    "cms:every-tool":
      "each tool of the CMS example is found by its phrases, described, and runs with its examples",
    "cms:rules": "the rules of all categories in an answer come with it, once per session",
    "cms:related": "tools that are often used together fill the room left in an answer",
    "cms:entities": "each extraction schema and extractor of the CMS example works on a real result",
    "cms:discovery": "every request finds the tools that serve it by its words",
    "cms:validation": "tools and extractors that contradict each other are refused at the start",
    "cms:site": "the tools of the CMS example read what the others change, and dry runs predict it",
    "onto:few-tools": "a system of 53 functions takes at most four tools",
    "onto:every-op": "every function is callable by the op made from its name, with its own examples",
    "onto:found": "everyday wording finds every function among the first five hits",
    "onto:policy": "tools with rules of behaviour carry them as a short policy",
    "onto:tree-and-relations":
      "trees and relations are read and changed without cycles, and dry runs predict the change",
    "onto:help-path": "every op answers wrong args with a help path",
    "onto:round-trips": "help is complete and cached, and a first use takes one round trip",
    "warehouse:every-tool": "entry points are found, hidden tools are not, and all run with their examples",
    "warehouse:guidance": "the result of a call decides which tools of which domains it unveils",
    "warehouse:scopes": "scopes of domain, tool and extractor add up, and denied entries do not exist",
    "warehouse:schema": "real tables and columns become documents that search finds by meaning",
    "warehouse:sql": "the database itself limits an agent's SQL to reading and to its tables",
    "library:fragments":
      "each fragment of the library example is real, found by its purpose, and leads to existing fragments",
    "library:match":
      "an index costs at most 120 tokens, a catalog shows 85 % more, texts keep to their budget",
    "library:prompts-and-skills": "prompts take arguments over MCP, skills are listed with their files",
    "playground:start":
      "npm start serves four systems to two callers, prints what it saves, ends on a signal; the steps of its page work",
    "console:api": "the HTTP API has one endpoint for each operation, and answers like the gateway",
    "console:safe":
      "the console opens once by its link; other pages, ports and callers can neither read nor call anything",
    "console:figures":
      "the console counts what agents did, by minute and by conversation, and nothing of its own",
    "console:pages":
      "the console shows searches with their reasons, runs reads and dry runs, approves, and follows agents live",
    "console:accessible": "every page of the console works by keyboard, in light and dark, and at 360 pixels",
    "console:live": "changes reach an open console while agents work",
    "console:approvals": "people approve definitions and calls exactly as they were shown",
    "session:implied":
      "clients of the older protocol get a session with their connection, and it ends with the connection",
    "session:memory":
      "a session remembers what was found, used, met and delivered, also after a restart; a new one is empty",
    "session:bounded": "a session's memory is bounded: five entities per result, ten in total, no duplicates",
    "session:principal":
      "a session belongs to its principal; foreign, unknown and expired handles are refused alike",
    "session:nothing-lost":
      "concurrent changes of one session are all kept, and a crash leaves a change whole or undone",
    "session:extraction":
      "extracting entities never fails the call, and an extractor that finds nothing is reported",
    "session:block": "the session block keeps to its budget, and no outside text escapes from it",
    "session:compaction": "reading session:// restores what was unveiled within a few hundred tokens",
    "session:ledger":
      "every token put into a context is counted by cause and compared with listing everything",
    "session:budget":
      "answers shrink to the remaining budget of a session; after that, calls say how to go on",
    "models:wire": "every provider speaks its real format: answers, streams, tool calls, usage, credentials",
    "models:errors":
      "model calls never throw; errors have one of ten codes, from type and status before text, without secrets",
    "models:retry":
      "three codes are retried, with growing waits (jitter of a quarter) or as the provider asks",
    "models:streams": "a stream is retried only before its first chunk; a later break is reported",
    "models:config":
      "providers have defaults, fall back to the environment and logged-in CLIs, and say what is missing",
    "permissions:headless": "without a person to ask, every call that needs a question is denied",
    "permissions:sensitive": "sensitive paths always ask, whatever the rules allow, also behind links",
    "permissions:exact": "a question shows everything that will run, with invisible characters by name",
    "permissions:always": '"always" writes exactly the rule that was shown, never a wider one',
    "permissions:corpus": "a shell command is allowed only if all of its parts are",
    "workspace:never-throws": "workspace tools fail with a problem of the table, and with nothing else",
    "workspace:stale": "a file that changed since it was read is not overwritten",
    "workspace:group": "every process that a command started ends with it",
    "settings:hierarchy":
      "settings come from defaults, the person's file, the project's file and the environment, in this order",
    "approve:looked-at": "approve shows lanes, tokens and changes, and accepts exactly what was shown",
    "doctor:names-cause": "doctor names the cause and the fix of every seeded fault",
    "cli:no-stack": "every misuse of the command line is answered with a sentence and the way on",
    "config:one-file": "all commands read one config in one way: servers, settings, overrides and profiles",
    "config:without-code":
      "folders of Markdown, documents of other systems and APIs are servers of a JSON config, and wait for a consent",
    "config:playground": "one JSON config without code serves the four systems of the playground",
    "config:imports": "configs in code and toolsets import keyhole and zod wherever they lie",
    "config:one-broken": "a broken server disables only itself, and fields that are not honoured are told",
    "config:secrets": "secrets and inputs of a config are kept outside it, and missing ones are named",
    "settings:errors": "errors in a settings file name file, line, column and the nearest key",
    "settings:last-good": "the last valid version of an invalid settings file stays in force",
    "settings:untrusted-project":
      "the settings of a project run, allow and redirect nothing until its folder is trusted",
    "settings:save": "saving a setting keeps all comments, or changes nothing",
    "telemetry:conventions":
      "spans and metrics arrive at an OTLP collector under the names of the conventions",
    "telemetry:no-values": "arguments, prompts and answers are exported only on request, secrets never",
    "telemetry:collector-down": "an unreachable collector costs only a bounded buffer",
    "telemetry:off": "without telemetry no telemetry code is loaded and no span is made",
    "telemetry:trace-context": "a client's trace continues through the gateway to the upstream servers",
    "agent:conversation":
      "an agent discovers, calls, asks for permission, reads large results, and continues in a second turn and after a restart",
    "agent:run":
      "keyhole chat --print prints text, JSON or events, reads piped input, continues conversations, and documents its exit codes",
    "agent:coding":
      "the agent repairs ten small repositories with a failing test, headless and in a terminal, and changes nothing else",
    "agent:no-secrets": "a conversation's file contains no secret of a known format or from the environment",
  },
  threat: {
    T1: "a token of somebody else is accepted or passed on",
    T2: "a confused deputy at a login",
    T3: "a login is mixed up with that of another issuer",
    T4: "a session or handle is hijacked",
    T5: "DNS rebinding and requests from other pages",
    T6: "requests to private addresses",
    T7: "commands are injected",
    T8: "definitions are poisoned",
    T9: "an approved definition changes",
    T10: "names shadow each other",
    T11: "search is manipulated",
    T12: "scopes are bypassed",
    T13: "an answer belongs to somebody else",
    T14: "secrets leave",
    T15: "results give instructions",
    T16: "skills reach further than they may",
    T17: "a caller or a server exhausts the gateway",
    T18: "headers and body differ",
    T19: "state of a round is tampered with or repeated",
    T20: "the audit log is evaded or changed",
    T21: "a folder attacks",
    T22: "permissions of the agent are bypassed",
    T23: "text runs as code in a page, or another page uses the console",
    T24: "Keyhole's own dependencies attack",
  },
  fault: {
    "crash-mid-call": "a server crashes during a call",
    "bad-start": "a server exits at its start, never answers, is missing, or prints a banner",
    hang: "a server hangs",
    network: "the network is slow, cuts, resets or swallows",
    "client-gone": "a client disconnects or cancels",
    "slow-consumer": "a client does not read",
    "half-open": "connections send no request, or half of one",
    "huge-result": "a result is huge",
    "long-line": "a line is too long, or never ends",
    "malformed-client": "a client sends malformed messages",
    "malformed-upstream": "a server sends malformed messages",
    "schema-bomb": "a schema is deep, wide, recursive or costly",
    redos: "a pattern explodes",
    "search-abuse": "a query is huge or strange",
    "index-damage": "a file of the index is damaged",
    "kill-during-write": "a process is killed while it writes",
    "failed-write": "the nth write of a store fails",
    "disk-full": "the disk is full",
    "no-descriptors": "descriptors run out",
    "reload-invalid": "a config becomes invalid while serving",
    "reload-valid": "a config changes while serving",
    flapping: "a list changes without end, or has no end",
    flood: "a server floods with notifications",
    "clock-jump": "the clock is set",
    sessions: "a thousand sessions at once",
    "reconnect-storm": "everybody reconnects at once",
    "login-storm": "a token expires under load",
    "process-leak": "processes outlive their gateway",
    leak: "memory, descriptors or timers leak",
    shutdown: "a signal ends the program under load",
    "two-gateways": "two gateways share a home",
  },
} as const;

type Table = typeof CLAIMS;
type ClaimId = { [Kind in keyof Table]: keyof Table[Kind] }[keyof Table];

/** Declares a test of one or several claims. */
export function verifies(
  ids: ClaimId | readonly ClaimId[],
  title: string,
  body: (context: TestContext) => unknown,
): void {
  test(`${[ids].flat().join(", ")}: ${title}`, body);
}

/** Reads the claims that a title begins with. */
export function claimsOf(title: string): string[] {
  const [, ids = ""] = /^([\w:-]+(?:, [\w:-]+)*): /.exec(title) ?? [];
  const all = Object.values<Record<string, string>>(CLAIMS);
  return ids.split(", ").filter((id) => all.some((claims) => Object.hasOwn(claims, id)));
}
