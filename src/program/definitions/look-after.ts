import { defineCommand } from "../terminal/define-command.ts";
import { CONFIG, COUNT_MOST, FOLLOW, JSON_OUTPUT } from "../terminal/shared-options.ts";

const report = defineCommand({
  name: "report",
  summary: "Show what use teaches about your catalog.",
  page: "guide.md#learning-from-use",
  about: `Shows what use teaches about your catalog: queries that led to no call, which ask for a better description or
    a missing server, and calls that conversations make one after the other again and again, which a recipe would save.
    Queries and calls are kept on this machine, without what looks like a secret; learning.enabled of the config
    switches that off.`,
  options: { json: { help: "everything, with the draft of a recipe for each sequence of calls" } },
  run: async (input) => (await import("../commands/report.ts")).showReport(input),
});

const lint = defineCommand({
  name: "lint",
  summary: "Find definitions that models have trouble with.",
  words: "[SERVER]...",
  about: `Finds definitions that a model will have trouble with: missing and vague descriptions, two tools that say the
    same, arguments without a description, definitions that cost many tokens. Proposes a better wording, which you can
    set without the server, as an override in the config.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async (input) => (await import("../doctor/lint-entries.ts")).lint(input),
});

const bench = defineCommand({
  name: "bench",
  summary: "Measure how well your own tools are found.",
  words: "[SERVER]...",
  about: `Measures how well your own tools are found. Asks for every tool by its name and by its description, without
    saying where it is, and by the queries after which it was used. Counts how often it is the first hit and among the
    first five. Leaves out what was learned from use, to measure search itself. Names the tools that are not found
    (keyhole lint says why). Calls no tool.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async (input) => (await import("../commands/bench.ts")).benchCatalog(input),
});

const index = defineCommand({
  name: "index",
  summary: "Build the index of a library of Markdown files.",
  page: "knowledge.md",
  words: { build: "[DIRECTORY]" },
  about: `Indexes the Markdown files under prompts/, fragments/ (or resources/) and rules/ of the directory (default:
    this one), so that a start reads one file instead of all of them.`,
  options: {
    out: { takes: "DIRECTORY", help: "where to write the index (default: .index in the directory)" },
    json: JSON_OUTPUT,
  },
  notes: "Exits with 1 if files were left out, and names them.",
  run: async (input) => (await import("../commands/build-index.ts")).buildIndex(input),
});

const audit = defineCommand({
  name: "audit",
  summary: "Verify and show the audit log.",
  page: "audit.md",
  words: { verify: "", tail: "", export: "" },
  forms: [
    "verify [--contains HASH]",
    "tail [-n NUMBER] [--follow]",
    "export [--json] [--since TIME] [--principal ID]",
  ],
  about: `Reads the audit log: who called what, how that was decided and how it ended. Values are never in it. verify
    checks every record and names the first one that was changed, moved or removed. tail shows the newest records,
    export all.`,
  options: {
    folder: { takes: "DIRECTORY", help: "the log to read (default: the one in the state folder)" },
    contains: {
      takes: "HASH",
      help: "also require the record with this hash, such as a head that you noted earlier",
    },
    number: {
      short: "n",
      takes: "NUMBER",
      most: COUNT_MOST,
      default: 20,
      help: "how many records tail shows",
    },
    follow: FOLLOW,
    json: { help: "records as stored, one line of JSON each" },
    since: { takes: "TIME", help: "a date such as 2026-01-31, or an age such as 30m, 12h or 7d" },
    principal: { takes: "ID", help: "only records of this caller" },
  },
  notes: "verify exits with 1 if the log is not intact, tail and export if they found damaged records.",
  run: async (input) => (await import("../commands/audit.ts")).readAudit(input),
});

export const LOOK_AFTER = [report, lint, bench, index, audit];
