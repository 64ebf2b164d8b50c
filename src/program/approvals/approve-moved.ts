import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { waits } from "../../core/access/pins.ts";
import { type DefinitionApproval, markLane, type ServerApprovals } from "../../gateway/approvals.ts";
import { askLine, isYes } from "../terminal/confirm.ts";
import { wrapText } from "../terminal/define-command.ts";
import { approveServers } from "./approve.ts";
import { surveyServers } from "./survey-servers.ts";

/**
 * Asks about servers that have just moved behind Keyhole: one screen for all of them, from which a person may go on to
 * each definition. Definitions that try to steer a model or have changed are always shown on their own.
 */
export async function approveMoved(servers: readonly string[]): Promise<void> {
  const survey = await surveyServers({ config: undefined, servers, refresh: false });
  let unseen = servers;
  try {
    for (const { sentence } of survey.unreached) console.error(toVisibleLine(sentence));
    const listed = (await survey.list()).filter(({ server }) => servers.includes(server));
    const waiting = listed.flatMap(({ definitions }) => definitions).filter(waits);
    if (waiting.length === 0) return;
    const news = listed
      .map((one) => ({ ...one, definitions: one.definitions.filter(isNew) }))
      .filter(({ definitions }) => definitions.length > 0);
    if (news.length > 1) {
      const { columns, rows } = process.stdout;
      console.log(overviewLines(news, Math.min(columns || 80, 100), (rows || 24) - OTHER_LINES).join("\n"));
      const offered = news.flatMap(({ definitions }) => definitions);
      const reading = offered.filter(({ milder }) => milder === "read").length;
      const more =
        reading > 0 ? `r to also count the ${reading} as reading that look as if they only read, ` : "";
      const answer = (
        await askLine(`Approve all of it? [y/N, ${more}or l to look at each one first] `)
      ).toLowerCase();
      if (isYes(answer) || (reading > 0 && answer === "r")) {
        const pins =
          answer === "r"
            ? offered.map((one) => (one.milder === "read" ? markLane(one, "read") : one))
            : offered;
        console.log(`Approved: ${await survey.pins.approve({ pins })}.`);
        unseen = waiting.filter((pin) => !isNew(pin)).map(({ source }) => source);
      } else if (answer !== "l") {
        return console.log("Nothing is approved. keyhole approve shows it again.");
      }
    }
  } finally {
    await survey.close();
  }
  if (unseen.length > 0) await approveServers([...new Set(unseen)]);
}

/** Whether a definition waits for the first time and does not try to steer a model. */
function isNew({ state, warnings }: DefinitionApproval): boolean {
  return state === "pending" && warnings.length === 0;
}

/** The lines before and after the overview that share its screen. */
const OTHER_LINES = 5;
/** The effects of tools, as several tools have them. */
const EFFECTS: Readonly<Record<string, string>> = { reads: "read", writes: "write", destroys: "destroy" };

/** Lists what servers offer, with the names of tools that change something as far as they fit on one screen. */
function overviewLines(news: readonly ServerApprovals[], columns: number, rows: number): string[] {
  const width = Math.max(...news.map(({ server }) => server.length)) + 4;
  const detailed = [["destroys", "writes"], ["destroys"], []].map((effects) =>
    news.flatMap((one) => serverLines(one, effects, columns, width)),
  );
  const all = news.flatMap(({ definitions }) => definitions);
  const tools = all.filter(({ effect }) => effect in EFFECTS).length;
  const others = all.length - tools;
  const more = others === 0 ? "" : ` and ${countOf(others, "prompt or document", "prompts and documents")}`;
  return [
    `${countOf(news.length, "server")} offer ${countOf(tools, "tool")}${more}:`,
    ...(detailed.find((lines) => lines.length <= rows) ?? detailed.at(-1)!),
  ];
}

function serverLines(
  { server, definitions }: ServerApprovals,
  named: readonly string[],
  columns: number,
  width: number,
): string[] {
  const byEffect = Map.groupBy(definitions, ({ effect }) => effect);
  const effects = [...new Set([...Object.keys(EFFECTS), ...byEffect.keys()])].filter((one) =>
    byEffect.has(one),
  );
  const counts = effects.map((effect) => {
    const { length } = byEffect.get(effect)!;
    const many = EFFECTS[effect];
    return many ? countOf(length, `tool ${effect}`, `tools ${many}`) : countOf(length, effect);
  });
  const names = effects
    .filter((effect) => named.includes(effect))
    .map(
      (effect) =>
        `${effect}: ${byEffect
          .get(effect)!
          .map(({ name }) => name)
          .join(", ")}`,
    );
  const [first = "", ...more] = [counts.join(", "), ...names].flatMap((line) =>
    wrapText(toVisibleLine(line), columns - width),
  );
  const name = `  ${toVisibleLine(server)}`.padEnd(width);
  return [`${name}${first}`, ...more.map((line) => `${" ".repeat(width)}${line}`)];
}
