import { LAB_CLIENTS } from "../lab/clients.ts";
import { lostBehind, readTours, type TourRow } from "../lab/tour/rows.ts";
import { change, figures, tourPairs } from "../lab/tour/run-tour.ts";

/** The recorded tours: for each client and number of servers, the figures direct and behind Keyhole. */
export async function clientTours(): Promise<string> {
  const pairs = tourPairs(await readTours());
  const order = LAB_CLIENTS.map(({ name }) => name);
  const sorted = pairs.toSorted(
    (one, other) =>
      order.indexOf(one.direct.client) - order.indexOf(other.direct.client) ||
      one.direct.size - other.direct.size,
  );
  return [
    "| client | servers | direct | behind Keyhole | sum | waits for a person | lost |",
    "|---|---|---|---|---|---|---|",
    ...sorted.map(({ direct, behind }) => lineOf(direct, behind)),
  ].join("\n");
}

function lineOf(direct: TourRow, behind: TourRow): string {
  const title = LAB_CLIENTS.find(({ name }) => name === direct.client)?.title;
  const cells = [
    `${title} ${direct.version}`,
    direct.size,
    figures(direct),
    figures(behind),
    change(direct, behind),
    behind.waits.join(", ") || "nothing",
    lostBehind(direct, behind).join("; ") || "nothing",
  ];
  return `| ${cells.join(" | ")} |`;
}
