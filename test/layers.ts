/** A folder of `src/` and what it holds. */
export interface Room {
  readonly name: string;
  readonly holds: string;
  /** The lines that its files may have together, without tests. */
  readonly lines: number;
}

/**
 * The rooms of `src/` in the order in which data flows. A room imports only from the rooms above it, type imports
 * included. ARCHITECTURE.md is made from this table by `npm run docs`.
 */
export const ROOMS: readonly Room[] = [
  {
    name: "base",
    lines: 6414,
    holds:
      "leaves that know none of the nouns: `util`, `tokens`, `problems`, `safety` of text, `json-schema`, `net` (the guarded fetch)",
  },
  {
    name: "search",
    lines: 8263,
    holds: "the engine: documents in, ranked ids out; words, vectors, fusion, learning, snapshot",
  },
  { name: "core", lines: 17351, holds: "what a catalog is and how a call runs" },
  {
    name: "sources",
    lines: 16536,
    holds: "where entries come from: `code`, `mcp`, `openapi`, `markdown`, `content`, `recipes`",
  },
  {
    name: "gateway",
    lines: 3281,
    holds:
      "the composition: `createGateway`, its start, one call from input to answer, the toolbox, the ledger",
  },
  {
    name: "postgres",
    lines: 2157,
    holds: "many gateways, one truth: shared state and search in PostgreSQL; Typesense",
  },
  {
    name: "faces",
    lines: 9376,
    holds:
      "how programs reach a gateway: `mcp`, `http` (the JSON API of the console and of programs), `ai-sdk`, `plain-tools`",
  },
  {
    name: "agent",
    lines: 15573,
    holds: "the loop, its `permissions`, `workspace` and `tools`, `context`, `models`, `chat`, `tui`",
  },
  {
    name: "program",
    lines: 13921,
    holds:
      "the command line: `commands`, `open` (a config becomes a gateway), `approvals`, `clients`, `daemon`, `doctor`, `terminal`",
  },
  {
    name: "testing",
    lines: 1862,
    holds: "published kits: behaviours of an index and of a storage driver, chaos upstream, scripted models",
  },
  { name: "index.ts", lines: 131, holds: "the public door of `keyhole`" },
];

/** The folders inside two rooms, by row. Folders of one row do not import each other. */
export const FOLDERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  base: [["util"], ["tokens"], ["problems"], ["safety"], ["json-schema"], ["net"]],
  core: [
    ["nouns"],
    ["catalog", "sandbox", "telemetry", "sessions", "answers"],
    ["storage"],
    ["audit", "access"],
    ["calls"],
    ["operations"],
    ["surfaces"],
  ],
};

/** All files of `src/`, without tests. */
export const MOST_FILES = 672;

/** Files under 50 lines with one importer, each with the reason why it is not part of that importer. */
export const SMALL_FILES: Readonly<Record<string, string>> = {
  "src/agent/chat/chat-history.ts": "its importer is in another room",
  "src/agent/models/providers/anthropic.ts": "one file for each provider",
  "src/agent/models/providers/azure.ts": "one file for each provider",
  "src/agent/models/providers/gemini.ts": "one file for each provider",
  "src/agent/models/providers/github.ts": "one file for each provider",
  "src/agent/models/providers/local.ts": "one file for each provider",
  "src/agent/models/providers/openai.ts": "one file for each provider",
  "src/agent/tui/stream-frames.ts": "its importer is at the limit of a file's lines",
  "src/agent/workspace/command-environment.ts": "its importer is in another room",
  "src/base/problems/team-problems.ts": "its importer is at the limit of a file's lines",
  "src/postgres/state/postgres-state.ts": "the published function",
  "src/program/clients/formats/yaml-format.ts": "loaded when a client has such a config",
  "src/search/schema-text.ts": "its importer is in another room",
  "src/search/vectors/kernel-bytes.ts": "written by scripts/make-kernel.ts",
  "src/sources/mcp/login/callback.ts": "the only file of the login that may listen",
};
