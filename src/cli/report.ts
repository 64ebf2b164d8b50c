import { createGateway } from "../gateway.ts";
import type { Gateway } from "../gateway-api.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { learningFile } from "./open-learning.ts";
import { FLAG, readArgs } from "./read-args.ts";

const USAGE = `Usage: keyhole report [--json]

Shows what use teaches about your catalog: queries that led to no call, which ask for a better description or a missing
server, and calls that conversations make one after the other again and again, which a recipe would save. Queries and
calls are kept on this machine, without what looks like a secret; learning.enabled of the config switches that off.

  --json           everything, with the draft of a recipe for each sequence of calls
  -h, --help`;

const SHOWN = 10;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = readArgs("report", args, { json: FLAG });
  if (values.help) return console.log(USAGE);
  const gateway = createGateway({ domains: [], learning: { log: learningFile() } });
  try {
    const report = { unmet: gateway.unmet(), repeated: gateway.repeated() };
    console.log(values.json ? JSON.stringify(report, null, 2) : lines(report).map(toVisibleLine).join("\n"));
  } finally {
    await gateway.close();
  }
}

interface Report {
  readonly unmet: ReturnType<Gateway["unmet"]>;
  readonly repeated: ReturnType<Gateway["repeated"]>;
}

function lines({ unmet, repeated }: Report): string[] {
  if (unmet.length + repeated.length === 0)
    return ["Nothing to report yet: agents have to use Keyhole first."];
  return [
    `${unmet.length} queries led to no call.`,
    ...unmet
      .slice(0, SHOWN)
      .map(
        ({ query, times, shown }) =>
          `  ${String(times).padStart(4)} × ${query}  (${shown.length === 0 ? "nothing was found" : `found: ${shown.slice(0, 3).join(", ")}`})`,
      ),
    `${repeated.length} sequences of calls are repeated.`,
    ...repeated
      .slice(0, SHOWN)
      .map(({ routes, conversations }) => `  in ${conversations} conversations: ${routes.join(" → ")}`),
    ...(repeated.length > 0
      ? ["To keep one as a recipe, start from its script: keyhole report --json."]
      : []),
  ];
}
