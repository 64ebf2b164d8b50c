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
  "upstream:lanes": "a lane is never weaker than what the server declares",
  "upstream:names": "names of servers' entries become routes, the same every time",
  "upstream:real": "servers from the registry are found, read and run through a gateway",
  "pins:quarantine": "what nobody approved is neither shown by its own words nor callable",
  "pins:changed": "a definition that changed waits for approval again, with a diff",
  "pins:fail-closed": "a lost or damaged store means that everything waits for approval",
  "menu:within-budget": "the menu costs at most 900 tokens for any catalog and does not change by use",
  "mcp:both-eras": "one server answers clients of both protocol revisions, over stdio and HTTP, alike",
  "mcp:surfaces": "four surfaces lead to the same operations, with true annotations and output schemas",
  "mcp:byte-stable": "tools/list has the same bytes before and after discovery, calls and reconnects",
  "mcp:problems": "a refusal is a result with code, message and next step",
  "mcp:get-may-write": "get runs what writes only where there is no exec and the caller may write",
  "mcp:resources": "documents, templates and prompts are listed, read and completed through the View",
  "mcp:changes": "a change of the catalog is announced once, tools only when they differ",
  "mcp:approval": "an approval is asked for, and holds for the exact call, its principal, a while, and once",
  "mcp:isolation": "no caller is ever given what was meant for another",
  "mcp:fidelity":
    "on the native surface definitions, results and progress of another server go through unchanged",
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
