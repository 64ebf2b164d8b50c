import { z } from "zod";
import type { UsageRow } from "../../../core/access/usage.ts";
import { faceApiOf } from "../../../gateway/face-api.ts";
import type { UsageAnswer, UsageFigures, UsagePrices } from "./api-types.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { defineAdminEndpoint, type Endpoint } from "./endpoint.ts";

const MILLION = 1_000_000;
const MOST_ROWS = 200;

/** The use by person, server, tool and day: for those who run the gateway, because it names people. */
export function usageEndpoints({ gateway, prices }: ConsoleParts): Endpoint[] {
  const usage = () => faceApiOf(gateway).usage();
  return [
    defineAdminEndpoint("GET /api/usage", {
      title: "Calls, tokens and money by person, server, tool and day, over all gateways.",
      input: z.object({ days: z.coerce.number().int().min(1).max(31).default(7) }),
      handle: async ({ input: { days } }): Promise<UsageAnswer> => {
        const rows = (await usage()?.report(days)) ?? [];
        const by = (nameOf: (row: UsageRow) => string) => figuresBy(rows, nameOf, prices).slice(0, MOST_ROWS);
        return {
          kept: usage() !== undefined,
          ...(prices && { currency: prices.currency ?? "" }),
          people: by(({ person }) => person),
          servers: by(({ server }) => server).filter(({ name }) => name !== ""),
          tools: by(({ op }) => op).filter(({ name }) => name !== ""),
          days: by(({ day }) => day).toSorted((one, other) => (one.name < other.name ? 1 : -1)),
        };
      },
    }),
  ];
}

/** The most expensive, or the busiest, first. */
function figuresBy(
  rows: readonly UsageRow[],
  nameOf: (row: UsageRow) => string,
  prices: UsagePrices | undefined,
): UsageFigures[] {
  const all = [...Map.groupBy(rows, nameOf)].map(([name, group]): UsageFigures => {
    const sum = (figure: (row: UsageRow) => number) => group.reduce((total, row) => total + figure(row), 0);
    return {
      name,
      calls: sum(({ calls }) => calls),
      failed: sum(({ failed }) => failed),
      tokens: sum(({ tokens }) => tokens),
      ...(prices && { cost: sum((row) => costOf(row, prices)) }),
    };
  });
  const weight = ({ cost, calls, tokens }: UsageFigures) => [cost ?? 0, calls, tokens] as const;
  return all.sort((one, other) => {
    const [left, right] = [weight(one), weight(other)];
    return right[0] - left[0] || right[1] - left[1] || right[2] - left[2];
  });
}

/** The price of what a row counts. */
export function costOf({ server, op, calls, tokens }: Omit<UsageRow, "day">, prices: UsagePrices): number {
  const call = prices.tools?.[op] ?? prices.servers?.[server] ?? 0;
  return calls * call + (tokens / MILLION) * (prices.tokens ?? 0);
}
