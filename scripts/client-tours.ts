import { LAB_CLIENTS } from "../lab/clients.ts";
import { readSearches, type SearchRow, searchFigures } from "../lab/searches/rows.ts";
import { lostBehind, readTours, type TourRow } from "../lab/tour/rows.ts";
import { change, DEFERRING, figures, tourPairs } from "../lab/tour/run-tour.ts";

/** The recorded tours: for each client and number of servers, the figures direct and behind Keyhole. */
export async function clientTours(): Promise<string> {
  return tableOf(
    ["client", "servers", "direct", "behind Keyhole", "sum", "waits for a person", "lost"],
    ordered(tourPairs(await readTours()), ({ direct }) => direct).map(({ direct, behind }) => [
      titleOf(direct),
      direct.size,
      figures(direct),
      figures(behind),
      change(direct, behind),
      behind.waits.join(", ") || "nothing",
      lostBehind(direct, behind).join("; ") || "nothing",
    ]),
  );
}

/** The same tours of clients that hide tools by themselves, with Keyhole's few tools and with all tools listed. */
export async function clientSurfaces(): Promise<string> {
  const rows = await readTours();
  const lanes = tourPairs(rows);
  return tableOf(
    ["client", "servers", "direct", "`lanes`", "`native`", "`native` loses"],
    ordered(tourPairs(rows, "native"), ({ direct }) => direct).map(({ direct, behind }) => {
      const few = lanes.find((pair) => pair.direct === direct)?.behind;
      const cell = (row: TourRow) => `${figures(row)} (${change(direct, row)})`;
      const lost = lostBehind(direct, behind).join("; ") || "nothing";
      return [titleOf(direct), direct.size, figures(direct), few ? cell(few) : "", cell(behind), lost];
    }),
  );
}

/** The recorded searches: for each client and number of tools, the client's own search and that of Keyhole. */
export async function clientSearches(): Promise<string> {
  const rows = await readSearches();
  const own = rows.filter(({ way }) => way === "direct");
  const asked = (row: SearchRow) =>
    rows.find(({ client, size, way }) => way === "keyhole" && client === row.client && size === row.size);
  return tableOf(
    ["client", "tools", "its own search", "`ask`", "servers started again", "sub-agent"],
    ordered(own, (row) => row).map((row) => {
      const ask = asked(row);
      const both = (cell: (row: SearchRow) => string) => [row, ...(ask ? [ask] : [])].map(cell).join("; ");
      return [
        titleOf(row),
        row.size.toLocaleString("en"),
        searchFigures(row),
        ask ? searchFigures(ask) : "",
        both(({ restart }) => restart.map((works) => (works ? "yes" : "no")).join(", ")),
        both(({ agent, agentNeeds }) => (agent === undefined ? "none" : `${agent} of ${agentNeeds}`)),
      ];
    }),
  );
}

/** How much less the tours of clients that hide tools by themselves cost behind Keyhole: `13 to 66 %`. */
export async function deferringChange(): Promise<string> {
  const pairs = tourPairs(await readTours()).filter(({ direct }) => DEFERRING.has(direct.client));
  const percents = pairs.map(({ direct, behind }) => Math.round((1 - behind.sum / direct.sum) * 100));
  return `${Math.min(...percents)} to ${Math.max(...percents)} %`;
}

interface Sized {
  readonly client: string;
  readonly version: string;
  readonly size: number;
}

/** In the order of the clients, the smaller first. */
function ordered<T>(rows: readonly T[], sizedOf: (row: T) => Sized): T[] {
  const order = LAB_CLIENTS.map(({ name }) => name);
  const keyOf = (row: T) => order.indexOf(sizedOf(row).client) * 10_000 + sizedOf(row).size;
  return rows.toSorted((one, other) => keyOf(one) - keyOf(other));
}

function titleOf({ client, version }: Sized): string {
  return `${LAB_CLIENTS.find(({ name }) => name === client)?.title} ${version}`;
}

function tableOf(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const [head, ...lines] = [heads, ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [head, `|${"---|".repeat(heads.length)}`, ...lines].join("\n");
}
