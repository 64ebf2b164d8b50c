import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { type Pin, waits } from "../../core/access/pins.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import { askLine, isYes } from "../terminal/confirm.ts";
import { wrap } from "../terminal/define-command.ts";
import { approve } from "./approve.ts";
import { surveyServers } from "./survey-servers.ts";

/** The definitions of a server that wait for the first time and do not try to steer a model. */
interface NewDefinitions {
  readonly server: string;
  readonly pins: readonly Pin[];
  readonly entries: readonly Entry[];
}

/**
 * Asks about servers that have just moved behind Keyhole: one screen for all of them, from which a person may go on to
 * each definition. Definitions that try to steer a model or have changed are always shown on their own.
 */
export async function approveMoved(servers: readonly string[]): Promise<void> {
  const survey = await surveyServers({ config: undefined, refresh: false });
  let unseen = servers;
  try {
    const waiting = survey.pins.list().filter((pin) => waits(pin) && servers.includes(pin.source));
    const news = [...Map.groupBy(waiting.filter(isNew), ({ source }) => source)].map(
      ([server, pins]): NewDefinitions => {
        const routes = new Set(pins.map(({ route }) => route));
        return { server, pins, entries: survey.entries.filter(({ route }) => routes.has(route)) };
      },
    );
    const isFailed = ({ label }: { label?: string | undefined }) => servers.includes(label ?? "");
    for (const { sentence } of survey.unreached.filter(isFailed)) console.error(toVisibleLine(sentence));
    if (waiting.length === 0) return;
    if (news.length > 1) {
      const { columns, rows } = process.stdout;
      console.log(overviewLines(news, Math.min(columns || 80, 100), (rows || 24) - OTHER_LINES).join("\n"));
      const answer = await askLine("Approve all of it? [y/N, or l to look at each one first] ");
      if (isYes(answer)) {
        const pins = news.flatMap((one) => one.pins);
        console.log(`Approved: ${await survey.pins.approve({ pins })}.`);
        unseen = waiting.filter((pin) => !isNew(pin)).map(({ source }) => source);
      } else if (answer.toLowerCase() !== "l") {
        return console.log("Nothing is approved. keyhole approve shows it again.");
      }
    }
  } finally {
    await survey.close();
  }
  if (unseen.length > 0) await approve.start([...new Set(unseen)]);
}

function isNew({ state, poison }: Pin): boolean {
  return state === "pending" && poison.length === 0;
}

/** The lines before and after the overview that share its screen. */
const OTHER_LINES = 5;
const EFFECTS = [
  ["read", "reads", "read"],
  ["write", "writes", "write"],
  ["destructive", "destroys", "destroy"],
] as const;

/** Lists what servers offer, with the names of tools that change something as far as they fit on one screen. */
function overviewLines(news: readonly NewDefinitions[], columns: number, rows: number): string[] {
  const width = Math.max(...news.map(({ server }) => server.length)) + 4;
  const detailed = [["destructive", "write"], ["destructive"], []].map((lanes) =>
    news.flatMap((one) => serverLines(one, lanes, columns, width)),
  );
  const kinds = Map.groupBy(
    news.flatMap(({ entries }) => entries),
    ({ kind }) => kind,
  );
  const isTool = (kind: string) => Number(kind === "tool");
  const counts = [...kinds]
    .toSorted(([one], [other]) => isTool(other) - isTool(one))
    .map(([kind, entries]) => countOf(entries.length, kind));
  return [
    `${countOf(news.length, "server")} offer ${counts.join(", ")}:`,
    ...(detailed.find((lines) => lines.length <= rows) ?? detailed.at(-1)!),
  ];
}

function serverLines(
  { server, entries }: NewDefinitions,
  lanes: readonly string[],
  columns: number,
  width: number,
): string[] {
  const tools = Map.groupBy(
    entries.filter(({ kind }) => kind === "tool"),
    ({ lane }) => lane,
  );
  const others = Map.groupBy(
    entries.filter(({ kind }) => kind !== "tool"),
    ({ kind }) => kind,
  );
  const counts = [
    ...EFFECTS.flatMap(([lane, one, many]) => {
      const { length } = tools.get(lane) ?? [];
      return length === 0 ? [] : [countOf(length, `tool ${one}`, `tools ${many}`)];
    }),
    ...[...others].map(([kind, group]) => countOf(group.length, kind)),
  ];
  const named = EFFECTS.flatMap(([lane, verb]) => {
    const names = tools.get(lane)?.map(({ name }) => name) ?? [];
    return lanes.includes(lane) && names.length > 0 ? [`${verb}: ${names.join(", ")}`] : [];
  });
  const [first = "", ...more] = [counts.join(", "), ...named].flatMap((line) =>
    wrap(toVisibleLine(line), columns - width),
  );
  const name = `  ${toVisibleLine(server)}`.padEnd(width);
  return [`${name}${first}`, ...more.map((line) => `${" ".repeat(width)}${line}`)];
}
