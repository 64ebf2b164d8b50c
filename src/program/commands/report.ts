import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { openGateway } from "../open/open-gateway.ts";
import { learningFile } from "../open/stores.ts";
import { defineCommand } from "../terminal/define-command.ts";

const SHOWN = 10;

export const report = defineCommand({
  name: "report",
  page: "guide.md#learning-from-use",
  about: `Shows what use teaches about your catalog: queries that led to no call, which ask for a better description or
    a missing server, and calls that conversations make one after the other again and again, which a recipe would save.
    Queries and calls are kept on this machine, without what looks like a secret; learning.enabled of the config
    switches that off.`,
  options: { json: { help: "everything, with the draft of a recipe for each sequence of calls" } },
  run: async ({ json }) => {
    const { gateway, close } = openGateway({ options: { learning: { log: learningFile() } } });
    try {
      const report = { unmet: gateway.unmet(), repeated: gateway.repeated() };
      console.log(
        json
          ? JSON.stringify(report, null, 2)
          : lines(report.unmet, report.repeated).map(toVisibleLine).join("\n"),
      );
    } finally {
      await close();
    }
  },
});

function lines(unmet: ReturnType<Gateway["unmet"]>, repeated: ReturnType<Gateway["repeated"]>): string[] {
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
      ? ["To keep one as a recipe, start from its script: keyhole report --json."]
      : []),
  ];
}
