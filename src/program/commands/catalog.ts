import { resolve } from "node:path";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import { countOf } from "../../base/util/count-of.ts";
import { splitWords } from "../../base/util/split-words.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import { openSqliteStorage } from "../../core/storage/sql-storage.ts";
import type { Gateway, GatewayReport } from "../../gateway/gateway-api.ts";
import { LearningLog, usedQueries } from "../../search/learning/learning-log.ts";
import { buildLibraryIndex } from "../../sources/markdown/library-index.ts";
import { type LintFinding, lintEntries } from "../doctor/lint-entries.ts";
import { openCatalog, openGateway } from "../open/open-gateway.ts";
import { openStateOf } from "../open/open-state.ts";
import { learningFile } from "../open/stores.ts";
import { type CommandInput, defineCommand } from "../terminal/define-command.ts";
import { CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";
import { withProgress } from "../terminal/with-progress.ts";

const SHOWN = 10;

const OPTIONS = {
  config: CONFIG,
  out: { takes: "DIRECTORY", help: "where index writes (default: .index in the directory)" },
  json: JSON_OUTPUT,
} as const;
type CatalogCommandInput = CommandInput<typeof OPTIONS>;

export const catalog = defineCommand({
  name: "catalog",
  page: "guide.md#learning-from-use",
  words: { report: "", lint: "[SERVER]...", bench: "[SERVER]...", index: "[DIRECTORY]" },
  about: `report shows what use teaches about your tools: queries that led to no call, which ask for a better
    description or a missing server, and calls that conversations make one after the other again and again, which a
    recipe would save. With --json it has the draft of such a recipe. Queries and calls are kept on this machine,
    without what looks like a secret; learning.enabled of the config switches that off.

    lint finds definitions that a model will have trouble with: missing and vague descriptions, two tools that say the
    same, arguments without a description, definitions that cost many tokens, tools in code whose effect nobody
    declares. It proposes a better wording, which you
    can set without the server, as an override in the config.

    bench measures how well your own tools are found. It asks for every tool by its name and by its description,
    without saying where it is, and by the queries after which it was used, and counts how often the tool is the first
    hit and among the first five. It leaves out what was learned from use, and calls no tool.

    index indexes the Markdown files under prompts/, fragments/ (or resources/) and rules/ of a directory (default:
    this one), so that a start reads one file instead of all of them. It exits with 1 if files were left out, and names
    them; it also names files that are not used as they are written, such as rules of a category that no entry has.`,
  options: OPTIONS,
  run: async (input) => ACTIONS[input.action]?.(input),
});

const ACTIONS: Readonly<Record<string, (input: CatalogCommandInput) => Promise<void>>> = {
  report,
  lint,
  bench,
  index,
};

async function report({ json, config }: CatalogCommandInput): Promise<void> {
  const state = await openStateOf(config);
  const { gateway, close } = openGateway({
    options: { learning: { log: state?.storage ?? learningFile() } },
  });
  try {
    const { unmet, repeated } = await gateway.report();
    const shown = () => reportLines({ unmet, repeated }).map(toVisibleLine).join("\n");
    console.log(json ? JSON.stringify({ unmet, repeated }, null, 2) : shown());
  } finally {
    await close();
  }
}

function reportLines({ unmet, repeated }: Pick<GatewayReport, "unmet" | "repeated">): string[] {
  if (unmet.length + repeated.length === 0)
    return ["Nothing to report yet: agents have to use Keyhole first."];
  return [
    `${unmet.length === 1 ? "1 query" : `${unmet.length} queries`} led to no call.`,
    ...unmet
      .slice(0, SHOWN)
      .map(
        ({ query, times, shown }) =>
          `  ${String(times).padStart(4)} × ${query}  (${shown.length === 0 ? "nothing was found" : `found: ${shown.slice(0, 3).join(", ")}`})`,
      ),
    `${countOf(repeated.length, "repeated sequence")} of calls.`,
    ...repeated
      .slice(0, SHOWN)
      .map(
        ({ routes, conversations }) =>
          `  in ${countOf(conversations, "conversation")}: ${routes.join(" → ")}`,
      ),
    ...(repeated.length > 0
      ? ["To keep one as a recipe, start from its script: keyhole catalog report --json."]
      : []),
  ];
}

async function lint(input: CatalogCommandInput): Promise<void> {
  const { entries, close } = await openCatalog("catalog", input);
  try {
    const tools = entries.filter((entry) => entry.kind === "tool");
    const findings = await lintEntries(tools);
    if (input.json) return console.log(JSON.stringify(findings, null, 2));
    const count = `${countOf(tools.length, "tool")}, ${countOf(findings.length, "finding")}.`;
    console.log([...findings.flatMap(lintLines), count].join("\n"));
  } finally {
    await close();
  }
}

function lintLines({ op, finding, better }: LintFinding): string[] {
  const lines = [`${op}: ${finding}`, ...(better === undefined ? [] : [`  better: ${better}`])];
  return lines.map(toVisibleLine);
}

interface Question {
  readonly query: string;
  readonly entry: Entry;
}

async function bench(input: CatalogCommandInput): Promise<void> {
  const { gateway, entries, close } = await openCatalog("catalog", input);
  try {
    const tools = entries.filter(({ kind, visibility }) => kind === "tool" && visibility !== "hidden");
    const by = (toQuery: (entry: Entry) => string) =>
      tools.map((entry) => ({ entry, query: toQuery(entry) }));
    const rows = [
      await measure("name", gateway, by(nameOf)),
      await measure("description", gateway, by(describe)),
      await measure("use", gateway, await askedBefore(tools, input.config)),
    ];
    const shown = rows.filter(({ asked }) => asked > 0).flatMap(benchLines);
    console.log(input.json ? JSON.stringify(rows, null, 2) : shown.join("\n") || "No tools.");
  } finally {
    await close();
  }
}

async function measure(queries: string, gateway: Gateway, questions: readonly Question[]) {
  const countTokens = await loadTokenCounter();
  const missed = new Set<string>();
  let [asked, first, five, tokens] = [0, 0, 0, 0];
  await withProgress(
    () => `Asking by ${queries}: ${asked} of ${questions.length}`,
    async () => {
      for (const { entry, query } of questions) {
        const answer = await gateway.ask({ query });
        const rank = answer.hits.findIndex(({ route }) => route === entry.route);
        asked += 1;
        tokens += countTokens(answer.text);
        if (rank === 0) first += 1;
        if (rank >= 0 && rank < 5) five += 1;
        else missed.add(entry.op ?? entry.route);
      }
    },
  );
  const mean = Math.round(tokens / Math.max(1, asked));
  return { queries, asked, first, five, tokens: mean, missed: [...missed] };
}

function nameOf({ name }: Entry): string {
  return splitWords(name).join(" ");
}

function describe({ description, name }: Entry): string {
  return toSummary(description).replaceAll(name, "").trim() || splitWords(name).join(" ");
}

/** Queries that led to a call, from what was learned. */
async function askedBefore(tools: readonly Entry[], config: string | undefined): Promise<Question[]> {
  const entries = new Map(tools.map((entry) => [entry.route, entry]));
  const state = await openStateOf(config);
  const file = state ? undefined : openSqliteStorage(learningFile());
  const log = new LearningLog(state?.storage ?? file?.open);
  await log.load();
  await log.close();
  file?.close();
  return usedQueries(log.events).flatMap(({ query, route }) => {
    const entry = entries.get(route);
    return entry ? [{ query, entry }] : [];
  });
}

function benchLines({ queries, asked, first, five, tokens, missed }: Awaited<ReturnType<typeof measure>>) {
  const share = (count: number) => `${Math.round((count / asked) * 100)} %`.padStart(5);
  const more = missed.length > SHOWN ? `, and ${missed.length - SHOWN} more` : "";
  return [
    `by ${queries.padEnd(12)} ${String(asked).padStart(5)} asked  first ${share(first)}  in five ${share(five)}  ${tokens} tokens an answer`,
    ...(missed.length > 0
      ? [toVisibleLine(`  not in five: ${missed.slice(0, SHOWN).join(", ")}${more}`)]
      : []),
  ];
}

async function index({ words: [directory = "."], out, json }: CatalogCommandInput): Promise<void> {
  const built = await buildLibraryIndex(resolve(directory), out ? resolve(out) : undefined);
  if (json) console.log(JSON.stringify(built));
  else {
    console.log(`Files: ${built.files}, fragments among them: ${built.fragments}.`);
    for (const reason of [...built.problems, ...built.warnings]) console.error(reason);
  }
  if (built.problems.length > 0) process.exitCode = 1;
}
