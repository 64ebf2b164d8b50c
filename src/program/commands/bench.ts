import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import { splitWords } from "../../base/util/split-words.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { openLearningLog, usedQueries } from "../../search/learning/learning-log.ts";
import { openCatalog } from "../open/open-gateway.ts";
import { learningFile } from "../open/stores.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";
import { withProgress } from "../terminal/with-progress.ts";

const SHOWN = 10;

interface Question {
  readonly query: string;
  readonly entry: Entry;
}

export const bench = defineCommand({
  name: "bench",
  words: "[SERVER]...",
  about: `Measures how well your own tools are found. Asks for every tool by its name and by its description, without
    saying where it is, and by the queries after which it was used. Counts how often it is the first hit and among the
    first five. Leaves out what was learned from use, to measure search itself. Names the tools that are not found
    (keyhole lint says why). Calls no tool.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async (input) => {
    const { gateway, entries, close } = await openCatalog("bench", input);
    try {
      const tools = entries.filter(({ kind, visibility }) => kind === "tool" && visibility !== "hidden");
      const by = (toQuery: (entry: Entry) => string) =>
        tools.map((entry) => ({ entry, query: toQuery(entry) }));
      const rows = [
        await measure("name", gateway, by(nameOf)),
        await measure("description", gateway, by(describe)),
        await measure("use", gateway, askedBefore(tools)),
      ];
      const shown = rows.filter(({ asked }) => asked > 0).flatMap(lines);
      console.log(input.json ? JSON.stringify(rows, null, 2) : shown.join("\n") || "No tools.");
    } finally {
      await close();
    }
  },
});

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

/** Queries that led to a call, from the log of learning. */
function askedBefore(tools: readonly Entry[]): Question[] {
  const entries = new Map(tools.map((entry) => [entry.route, entry]));
  return usedQueries(openLearningLog(learningFile()).events).flatMap(({ query, route }) => {
    const entry = entries.get(route);
    return entry ? [{ query, entry }] : [];
  });
}

function lines({ queries, asked, first, five, tokens, missed }: Awaited<ReturnType<typeof measure>>) {
  const share = (count: number) => `${Math.round((count / asked) * 100)} %`.padStart(5);
  const more = missed.length > SHOWN ? `, and ${missed.length - SHOWN} more` : "";
  return [
    `by ${queries.padEnd(12)} ${String(asked).padStart(5)} asked  first ${share(first)}  in five ${share(five)}  ${tokens} tokens an answer`,
    ...(missed.length > 0
      ? [toVisibleLine(`  not in five: ${missed.slice(0, SHOWN).join(", ")}${more}`)]
      : []),
  ];
}
