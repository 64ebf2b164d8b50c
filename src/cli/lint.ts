import type { Entry } from "../schema/entry.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { type LintFinding, lintEntries } from "./lint/lint-entries.ts";
import { openCatalog } from "./open-catalog.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";

const USAGE = `Usage: keyhole lint [SERVER]... [--config FILE] [--json]

Finds definitions that a model will have trouble with: missing and vague descriptions, two tools that say the same,
arguments without a description, definitions that cost many tokens. Proposes a better wording, which you can set
without the server, as an override in the config.

  --config FILE    as for keyhole serve
  --json
  -h, --help`;

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readWordsAndArgs("lint", args, { config: TEXT, json: FLAG });
  if (values.help) return console.log(USAGE);
  const catalog = await openCatalog("lint", values.config, positionals);
  try {
    const tools = catalog.entries.filter(
      (entry): entry is Extract<Entry, { kind: "tool" }> => entry.kind === "tool",
    );
    const findings = await lintEntries(tools);
    if (values.json) return console.log(JSON.stringify(findings, null, 2));
    console.log(
      [...findings.flatMap(lines), `${tools.length} tools, ${findings.length} findings.`].join("\n"),
    );
  } finally {
    await catalog.close();
  }
}

function lines({ op, finding, better }: LintFinding): string[] {
  return [
    toVisibleLine(`${op}: ${finding}`),
    ...(better === undefined ? [] : [toVisibleLine(`  better: ${better}`)]),
  ];
}
