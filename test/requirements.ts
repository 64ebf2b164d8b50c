import { type TestContext, test } from "vitest";

/** What Keyhole promises. Each is cited by at least one test, through `verifies`. */
export const REQUIREMENTS = {
  "ask:exact-name-survives": "a name, op, route or alias in the query brings its entry to the top",
  "ask:no-starvation": "each of several queries gets its share of the hits",
  "ask:within-budget": "the answer stays within maxTokens for any catalog",
  "ask:shrinks-first": "lines shrink before hits are dropped, and what is left out is counted",
  "ask:entry-points": "entry points of a matched domain are always shown, hidden entries never",
  "ask:near-names": "a typo is answered with the nearest names",
  "ask:says-why": "an entry that cannot be used now is shown with the reason",
  "ask:rules-once": "rules come with the entries they concern, once a session",
  "ask:segments": "a domain's search segments order and limit its hits",
  "help:taxonomy": "root, domain, group, lane and op paths are described, completely",
  "help:example": "every op has at least one example",
  "get:isolated": "one failure does not break the others",
  "get:reads-only": "get never runs a tool that writes",
  "exec:envelope": "success and failure have the same envelope, failures with help_path",
  "exec:allow-write": "without allowWrite nothing is written",
  "exec:dry-run": "destructive tools run dry until told otherwise",
  "exec:idempotency": "a key runs a call once; with other args it conflicts",
  "exec:approval": "a tool that requires confirmation waits for the approver",
  "exec:deadline": "a hanging tool ends at its limit, and its signal is raised",
  "exec:cancel": "the caller's signal reaches the tool",
  "batch:references": "later requests use earlier results",
  "batch:limit": "a batch over the limit is refused as a whole",
  "results:nothing-lost": "a large result is shown by whole items and read back in full by its handle",
  "handles:bound": "a handle of another principal is as unknown as a made-up one",
  "access:equivalence": "what ask and help show is what get and exec run, and denied entries do not exist",
  "content:passage": "a question to a long document finds the passage, and its parent gives the whole",
  "content:facts": "what a format says of a document is there to filter and sort by",
  "guidance:dropped": "guidance to what the caller may not see is dropped and reported",
  "catalog:all-errors": "start-up reports every wrong definition at once",
  "catalog:version": "the same definitions in another order have the same version",
  "catalog:atomic-swap": "calls in flight finish on the old catalog",
  "registry:round-trip": "a registry file is read back as it was written, damage is refused",
  "schema:hostile": "hostile schemas are refused at ingest, or harmless",
  "names:hostile": "names such as constructor and __proto__ are names like any other",
  "events:shapes-only": "events tell who, what and how it went, never argument values",
  "learning:bounded": "what was used lifts, within bounds, per scope, replayable, and can be switched off",
  "search:snapshot": "a start reads the search snapshot; a damaged, old or torn one is found out and rebuilt",
  "search:says-mode": "search says whether it uses words alone or vectors too, and goes on without them",
  "search:stuffing": "keyword stuffing wins no other tool's query and fills no page",
  "fetch:guarded":
    "outgoing requests reach public addresses only, checked when they connect, redirects included",
  "openapi:stays-within": "whatever the args are, a call keeps the declared origin and path template",
  "openapi:secrets-hidden":
    "credentials go to the declared origin only and show up in no result, error or event",
  "openapi:any-document": "public documents load as a whole, and what cannot be used says why",
  "upstream:faults": "a fault of one server hurts no other, and the answer names server and cause",
  "upstream:lazy": "with kept listings no server is started until one of its entries is called",
  "upstream:processes": "nothing that a server started outlives it, and it inherits only what is declared",
  "upstream:secrets": "what variables of a server's config stand for is in no message",
  "upstream:logins":
    "a login to a server is kept, renewed once for all, bound to its authorization server, and given to no other",
  "upstream:lanes": "a lane is never weaker than what the server declares",
  "upstream:names": "names of servers' entries become routes, the same every time",
  "upstream:real": "servers from the registry are found, read and run through a gateway",
  "upstream:says-kept":
    "what is known from an earlier listing only is shown as such, until the server was seen",
  "lifecycle:refresh": "a source is read again by its id, what has not changed is kept as it is",
  "lifecycle:whole": "a part never takes the place of a whole: a source that fails keeps what it had",
  "lifecycle:single-flight": "calls that ask for the same work at the same time share it",
  "lifecycle:cancel": "work that nobody waits for any more ends, and leaves what there was",
  "lifecycle:ttl": "content is read again when its time is over, and after a failure, later each time",
  "lifecycle:kept": "a start uses what was kept while it is fresh; damage is found out and fetched again",
  "lifecycle:rebuild": "a rebuild reads everything again, and nothing is missing while it runs",
  "lifecycle:sources": "sources come and go while calls run; only what changed is started or ended",
  "lifecycle:config-edit": "a wrong save changes nothing and says where; a right one changes what changed",
  "lifecycle:webhook": "a signed request reads a source again, once; any other is refused",
  "pins:quarantine": "what nobody approved is neither shown by its own words nor callable",
  "pins:changed": "a definition that changed waits for approval again, with a diff",
  "pins:fail-closed": "a lost or damaged store means that everything waits for approval",
  "pins:command": "what waits is shown and approved from the command line, and a gateway that runs notices",
  "markdown:fragments": "fragments are found by what they are for, beside tools, and lead to each other",
  "markdown:prompts": "arguments go into a prompt in one pass, and required ones that are missing are named",
  "markdown:rules": "a file of rules comes with the entries of its category, once a session",
  "markdown:match": "a match URI answers by its parameters, within its budget, through the caller's scopes",
  "markdown:reload": "a saved file is in the next answer; an invalid one serves as it was and says where",
  "markdown:index": "a start reads the index; a damaged, old or stale one is found out and not used",
  "menu:within-budget": "the menu costs at most 900 tokens for any catalog and does not change by use",
  "mcp:both-eras": "one server answers clients of both protocol revisions, over stdio and HTTP, alike",
  "mcp:surfaces": "four surfaces lead to the same operations, with true annotations and output schemas",
  "mcp:byte-stable": "tools/list has the same bytes before and after discovery, calls and reconnects",
  "mcp:problems": "a refusal is a result with code, message and next step",
  "mcp:get-may-write": "get runs what writes only where there is no exec and the caller may write",
  "mcp:skills": "skills are published by the protocol's extension, through the View, with digests that hold",
  "skills:contained": "a hostile skill is refused with a reason, or reaches nothing outside of its folder",
  "skills:tiers": "a query sees of skills nothing, their number, their list, or at most three in full",
  "upstream:skills": "skills of an upstream are entries, read with their files and checked",
  "mcp:resources": "documents, templates and prompts are listed, read and completed through the View",
  "mcp:changes": "a change of the catalog is announced once, tools only when they differ",
  "mcp:approval": "an approval is asked for, and holds for the exact call, its principal, a while, and once",
  "mcp:isolation": "no caller is ever given what was meant for another",
  "mcp:fidelity":
    "on the native surface definitions, results and progress of another server go through unchanged",
  "mcp:asking": "a server that is not trusted asks with forms only, under its label",
  "mcp:real-clients": "clients that nobody here wrote list, ask, read and run",
  "mcp:cancel": "a call that its client gives up is cancelled in the tool",
  "mcp:http-front": "only requests to this machine, from its own pages, with a valid token, are read at all",
  "mcp:tokens":
    "a token of another issuer, audience, time, key or algorithm is refused, saying where to get one",
  "mcp:http-limits":
    "rate, concurrency, size and depth are bounded for each caller; shutdown lets calls finish",
  "mcp:sessions": "a session belongs to who opened it; any other id is as unknown as a made-up one",
  "cms:every-tool":
    "each tool of the CMS example is found by its phrases, described, and runs with its examples",
  "cms:rules": "rules are those of the categories in play, combined, once a session",
  "cms:related": "tools often used together fill an answer that has room",
  "cms:entities": "each extraction schema and extractor of the CMS example fits a real result",
  "cms:discovery": "a request is led from its words to the tools that do it, whatever it says",
  "cms:validation": "tools, rules and extractors that do not fit each other are refused at start",
  "cms:site": "what a tool of the CMS example changes is what others read, a dry run tells it truly",
  "onto:few-tools": "a system of 53 functions is four tools at most",
  "onto:every-op": "every function is callable by the op that its name gives, with its own examples",
  "onto:found": "every function is found by what people say, among the first five",
  "onto:policy": "tools with rules of behaviour carry them as a short policy",
  "onto:tree-and-relations": "trees and relations are read and changed, without circles, by true dry runs",
  "onto:help-path": "wrong args are answered with where to read on, for every op",
  "onto:round-trips": "help is complete and kept, and a first use takes one round trip",
  "warehouse:every-tool": "entry points are found, hidden tools by nobody, and all run with their examples",
  "warehouse:guidance": "what an answer found decides which tools of which domains it unveils",
  "warehouse:scopes": "scopes of domain, tool and extractor add up, and what they close does not exist",
  "warehouse:schema": "real tables and columns become documents that are found by their meaning",
  "warehouse:sql": "SQL of an agent is kept to its tables and to reading by the database itself",
  "library:fragments":
    "each fragment of the library example is real, found by what it is for, and leads to others that are there",
  "library:match": "an index costs 120 tokens at most, a catalog shows 85 % more, texts keep to their budget",
  "library:prompts-and-skills": "prompts take arguments over MCP, skills are listed with their files",
  "playground:start":
    "npm start serves four systems to two callers, tells what it saves, and ends with a signal; README's steps work",
  "session:implied":
    "clients of the older protocol have a session by their connection; it remembers, and ends with it",
  "session:memory":
    "a session remembers what was found, used, met and delivered; a new one is empty, and it outlives a restart",
  "session:bounded": "what a session remembers is bounded: five things of a result, ten in all, one of each",
  "session:principal":
    "a session is its principal's; a foreign, unknown or expired handle is refused alike, here and in get",
  "session:nothing-lost":
    "changes of one session at the same time are all kept, and a crash leaves all or none",
  "session:extraction": "finding the things in a result never fails the call; that it finds nothing is told",
  "session:block":
    "the block of a system prompt keeps to its budget, and no text from outside gets out of it",
  "session:compaction": "get session:// gives back what was unveiled within a few hundred tokens",
  "session:ledger":
    "every token put into a context is counted by its cause, and compared with listing everything",
  "session:budget": "answers shrink to what is left of a session's budget; then calls say how to go on",
  "models:wire":
    "every provider speaks its real format: answers, streams, tool calls, usage, credentials where they belong",
  "models:errors":
    "calls of a model never throw; errors have one of ten codes, by type and status before words, without secrets",
  "models:retry":
    "three codes are tried again, with growing waits a quarter more or less, or as the provider asks",
  "models:streams": "a stream is begun again only before its first chunk; one that breaks says so",
  "models:config":
    "providers have defaults, fall back on the environment and on logged-in CLIs, and say what is missing",
  "permissions:headless": "where nobody can be asked, what would be asked is denied",
  "permissions:sensitive": "sensitive paths ask whatever the rules allow, behind links too",
  "permissions:exact": "a question shows all of what will run, unseen characters by name",
  "permissions:always": "always writes exactly what was shown, never something wider",
  "permissions:corpus": "no shell command is allowed of which a part is not",
  "workspace:never-throws": "workspace tools answer with one of nine codes and never throw",
  "workspace:stale": "a file that changed since it was read is not written over",
  "workspace:group": "when a command has ended, nothing that it started is left",
  "settings:hierarchy":
    "settings are defaults, the person's file, the project's file, the environment, in this order",
  "settings:errors": "what is wrong in a settings file is told with file, line, column and the nearest key",
  "settings:last-good": "a settings file that is wrong counts as it was when it was last right",
  "settings:untrusted-project":
    "the settings of a project run, allow and redirect nothing until its folder is trusted",
  "settings:save": "a setting is written without losing comments, or not at all",
  "telemetry:conventions": "spans and metrics arrive at an OTLP collector under the names of the conventions",
  "telemetry:no-values": "no argument, prompt or answer leaves unless it was asked for, and no secret ever",
  "telemetry:collector-down": "a collector that is down costs a bounded buffer and nothing else",
  "telemetry:off": "without telemetry nothing of it is loaded and no span is made",
  "telemetry:trace-context": "the trace of a client goes on through the gateway to the servers behind it",
  "agent:conversation":
    "an agent discovers, calls, asks for permission, reads large results, goes on in a second turn and after a restart",
  "agent:run":
    "keyhole run prints text, JSON or events, reads what is piped in, goes on with conversations, and its exit codes are documented",
  "agent:no-secrets":
    "no secret of a kind that is known, or of the environment, is written to a conversation's file",
} as const;

export type Requirement = keyof typeof REQUIREMENTS;

/** A test of a promise. */
export function verifies(
  requirement: Requirement,
  name: string,
  body: (context: TestContext) => unknown,
): void {
  test(`[${requirement}] ${name}`, body);
}
