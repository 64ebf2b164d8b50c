/** A folder of `src/`, or a file at its top, and what it holds. */
export interface Module {
  readonly name: string;
  readonly holds: string;
}

/**
 * The modules by layer, lowest first. Imports point to a lower layer, type imports included; modules of one layer
 * do not import each other, and neither do files or sub-folders in a circle. ARCHITECTURE.md is made from this
 * table by `npm run docs`.
 */
export const LAYERS: readonly (readonly Module[])[] = [
  [
    {
      name: "schema",
      holds: "the nouns as types and zod schemas, the problem table, the roles that sentences name",
    },
    { name: "util", holds: "leaf helpers, one function a file, no state" },
  ],
  [
    {
      name: "net",
      holds:
        "the guarded fetch, the only way out; reading HTTP answers, their statuses as problems; the secrets this process knows",
    },
    { name: "sandbox", holds: "scripts that nobody trusts: an engine in WebAssembly, in threads of its own" },
  ],
  [
    {
      name: "catalog",
      holds: "snapshot, op naming, lanes, schema limits, validation of params, registry file",
    },
    {
      name: "search",
      holds: "the `SearchIndex` port, the embedded engine, PostgreSQL and Typesense, learning from use",
    },
    {
      name: "access",
      holds: "who may see what: the View; pins of approved definitions, consents to start servers",
    },
    {
      name: "audit",
      holds: "the `AuditStore` port, the chain of hashes and its check, the log in files",
    },
    { name: "session", holds: "working memory and its stores, extraction, stored results, idempotency" },
    { name: "render", holds: "signatures, args, examples, previews, hits, fitting into a budget" },
    { name: "guidance", holds: "the next steps of an outcome" },
    { name: "telemetry", holds: "typed events, trace context, spans and metrics sent by OTLP" },
    {
      name: "sources",
      holds:
        "`code`, `content`, `markdown`, `mcp`, `openapi`, `recipes`: where entries come from, all followed in one way",
    },
  ],
  [
    { name: "calls", holds: "`decideCall`, the question to a person, running one entry" },
    { name: "state", holds: "the state that several gateways share in PostgreSQL" },
  ],
  [
    {
      name: "operations",
      holds: "ask, help, get, exec, batch, run: one file each, their table; plans of scripts",
    },
  ],
  [{ name: "surfaces", holds: "which tools a model sees, their names and words, the menu" }],
  [
    { name: "to-search-document.ts", holds: "an entry as search sees it" },
    { name: "ledger.ts", holds: "the tokens put into contexts, by cause" },
  ],
  [
    { name: "live-catalog.ts", holds: "the catalog in use, with its index" },
    { name: "call-budget.ts", holds: "the limits of a call within its session's budget" },
  ],
  [{ name: "live-sources.ts", holds: "the sources in use: followed, refreshed, replaced" }],
  [{ name: "gateway-api.ts", holds: "the public types of a gateway" }],
  [
    { name: "gateway-core.ts", holds: "the part of a gateway that only faces use" },
    {
      name: "gateway-parts.ts",
      holds: "the stores and services of a gateway: those of its options, or the defaults",
    },
    {
      name: "current-catalog.ts",
      holds: "the catalog that a call may use: loaded, started, approvals confirmed",
    },
    {
      name: "domain-sources.ts",
      holds: "the domains in code and their content pipelines, replaced at run time",
    },
  ],
  [
    { name: "record-operation.ts", holds: "the event of a call, and what observers are told" },
    { name: "gateway-sources.ts", holds: "the sources of a gateway as applications use them" },
  ],
  [{ name: "run-operation.ts", holds: "one call from input to answer: read, run, show, record" }],
  [{ name: "gateway.ts", holds: "composition root of the library" }],
  [{ name: "toolbox.ts", holds: "the tools of a surface with one way to call them; every face adapts it" }],
  [
    { name: "mcp", holds: "the MCP server face: stdio and HTTP, resources, prompts, approvals" },
    { name: "ai-sdk", holds: "the face for agents on the AI SDK" },
    { name: "plain-tools", holds: "tools in the shapes of OpenAI, Anthropic and LangChain" },
    { name: "models", holds: "a provider's name to a language model: one file for each provider" },
  ],
  [
    { name: "config", holds: "files and environment to validated settings; trust in folders" },
    { name: "clients", holds: "the configs of MCP clients: found, read, connected to Keyhole and undone" },
    { name: "http", holds: "the JSON API of the operations, live changes, figures, and the console's files" },
    {
      name: "daemon",
      holds: "one process for all clients of a person: its place, its first lines, the relay of a client",
    },
  ],
  [{ name: "agent", holds: "the agent loop, its events and conversations, permissions, workspace tools" }],
  [{ name: "tui", holds: "the chat of the terminal: one reducer, thin Ink components" }],
  [
    { name: "cli", holds: "the program; lazy commands; the only place that exits" },
    { name: "testing", holds: "published helpers: index behaviours, chaos upstream, scripted model" },
  ],
  [{ name: "index.ts", holds: "the public door of `keyhole`" }],
];
