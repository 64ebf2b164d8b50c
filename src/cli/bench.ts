import { readAuditFolder } from "../audit/audit-folder.ts";
import { mergeChains } from "../audit/merge-chains.ts";
import type { Gateway } from "../gateway-api.ts";
import type { Entry } from "../schema/entry.ts";
import { splitWords } from "../util/split-words.ts";
import { toSummary } from "../util/to-summary.ts";
import { loadTokenCounter } from "../util/tokens.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { auditFolder } from "./open-audit.ts";
import { openCatalog } from "./open-catalog.ts";
import { readCatalogArgs } from "./read-args.ts";
import { withProgress } from "./with-progress.ts";

const USAGE = `Usage: keyhole bench [SERVER]... [--config FILE] [--json]

Measures how well your own tools are found. Asks for every tool by its name and by its description, without saying
where it is, and counts how often it is the first hit and among the first five; tools that you have used (by the audit
log) are counted once more by themselves. Names those that are not found: keyhole lint says why. Calls no tool.

  --config FILE    as for keyhole serve
  --json
  -h, --help`;

const SHOWN = 10;

interface Row {
  readonly queries: "name" | "description" | "used";
  readonly asked: number;
  readonly first: number;
  readonly five: number;
  /** The mean of an answer. */
  readonly tokens: number;
  readonly missed: readonly string[];
}

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readCatalogArgs("bench", args);
  if (values.help) return console.log(USAGE);
  const catalog = await openCatalog("bench", values.config, positionals);
  try {
    const tools = catalog.entries.filter(
      ({ kind, visibility }) => kind === "tool" && visibility !== "hidden",
    );
    const used = await usedOps();
    const spent = tools.filter(({ op }) => used.has(op ?? ""));
    const rows = [
      await measure("name", catalog.gateway, tools, nameOf),
      await measure("description", catalog.gateway, tools, describe),
      await measure("used", catalog.gateway, spent, describe),
    ];
    if (values.json) console.log(JSON.stringify(rows, null, 2));
    else
      console.log(
        rows
          .filter(({ asked }) => asked > 0)
          .flatMap(lines)
          .join("\n") || "No tools.",
      );
  } finally {
    await catalog.close();
  }
}

async function measure(
  queries: Row["queries"],
  gateway: Gateway,
  tools: readonly Entry[],
  toQuery: (entry: Entry) => string,
): Promise<Row> {
  const countTokens = await loadTokenCounter();
  const missed: string[] = [];
  let [asked, first, five, tokens] = [0, 0, 0, 0];
  await withProgress(
    () => `Asking by ${queries}: ${asked} of ${tools.length}`,
    async () => {
      for (const tool of tools) {
        const answer = await gateway.ask({ query: toQuery(tool) });
        const rank = answer.hits.findIndex(({ route }) => route === tool.route);
        asked += 1;
        tokens += countTokens(answer.text);
        if (rank === 0) first += 1;
        if (rank >= 0 && rank < 5) five += 1;
        else missed.push(tool.op ?? tool.route);
      }
    },
  );
  return { queries, asked, first, five, tokens: Math.round(tokens / Math.max(1, asked)), missed };
}

function nameOf({ name }: Entry): string {
  return splitWords(name).join(" ");
}

function describe({ description, name }: Entry): string {
  return toSummary(description).replaceAll(name, "").trim() || splitWords(name).join(" ");
}

/** The ops that the audit log has a call of. */
async function usedOps(): Promise<Set<string>> {
  const used = new Set<string>();
  for await (const { record } of mergeChains(readAuditFolder(auditFolder())))
    if (record?.kind === "call-ended") used.add(record.op);
  return used;
}

function lines({ queries, asked, first, five, tokens, missed }: Row): string[] {
  const share = (count: number) => `${Math.round((count / asked) * 100)} %`.padStart(5);
  const more = missed.length > SHOWN ? `, and ${missed.length - SHOWN} more` : "";
  return [
    `by ${queries.padEnd(12)} ${String(asked).padStart(5)} asked  first ${share(first)}  in five ${share(five)}  ${tokens} tokens an answer`,
    ...(missed.length > 0
      ? [toVisibleLine(`  not in five: ${missed.slice(0, SHOWN).join(", ")}${more}`)]
      : []),
  ];
}
