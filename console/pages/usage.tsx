import { useState } from "preact/hooks";
import type { CallFigures, FiguresAnswer, UsageAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { useApi } from "../live.ts";
import { Card, Empty, Page, Shown, Table } from "../parts/basics.tsx";
import { compact, number, times, within } from "../parts/format.ts";

/** The parts of the figures, and of the usage of people, which has the money. */
const PARTS = {
  tools: { one: "Tool", cost: "tools" },
  servers: { one: "Server", cost: "servers" },
  agents: { one: "Agent", cost: "people" },
  days: { one: "Day", cost: "days" },
} as const;
type Part = keyof typeof PARTS;
const SPANS = [1, 7, 30] as const;
const TIMES = { half: "Half within", most: "95 % within", slowest: "99 % within" } as const;

/** Calls from the audit log, so that a restart loses none. Without one, as far as the use of people is counted. */
export function Usage() {
  const [part, setPart] = useState<Part>("tools");
  const [days, setDays] = useState<number>(7);
  const loaded = useApi<FiguresAnswer>(`/api/figures?days=${days}`, ["calls"]);
  const { value: usage } = useApi<UsageAnswer>(`/api/usage?days=${days}`, ["calls"]);
  const { one, cost } = PARTS[part];
  return (
    <Page
      title="Usage"
      lead="Calls of tools, their failures, tokens and times, and money where the config has prices."
      actions={
        <>
          <label class="field inline">
            <span>By</span>
            <select value={part} onChange={({ currentTarget }) => setPart(currentTarget.value as Part)}>
              {Object.entries(PARTS).map(([value, row]) => (
                <option key={value} value={value}>
                  {row.one.toLowerCase()}
                </option>
              ))}
            </select>
          </label>
          <label class="field inline">
            <span>In the last</span>
            <select value={days} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
              {SPANS.map((count) => (
                <option key={count} value={count}>
                  {times(count, "day")}
                </option>
              ))}
            </select>
          </label>
        </>
      }
    >
      <Shown of={loaded}>
        {(figures) => {
          const used = usage?.[cost] ?? [];
          const rows: readonly Row[] = figures.kept ? figures[part] : used;
          const currency = usage?.currency;
          const hasFinding = rows.some(({ finding }) => finding !== undefined);
          return (
            <Card>
              {rows.length === 0 ? (
                <Empty title="No tool was called in this time">
                  {figures.kept
                    ? "Agents appear here with their first call of a tool."
                    : "This gateway keeps no audit log to count from."}
                </Empty>
              ) : (
                <Table
                  head={[
                    ...[one, "Calls", "Failed", ...(hasFinding ? ["Tokens of finding"] : [])],
                    hasFinding ? "Tokens of results" : "Tokens",
                    ...(currency === undefined ? [] : ["Cost"]),
                    ...Object.values(TIMES),
                  ]}
                  label={`Calls by ${one.toLowerCase()}`}
                >
                  {rows.map(({ name, calls, failed, errors = [], finding, tokens, ms }) => (
                    <tr key={name}>
                      <td class={part === "days" ? "nowrap" : ""}>
                        <bdi class="mono outside">{name}</bdi>
                      </td>
                      <td>{number(calls)}</td>
                      <td>
                        {failed === 0 ? "none" : number(failed)}{" "}
                        <span class="quiet small">
                          {errors.map(({ code, times: count }) => `${code} ${count}`).join(", ")}
                        </span>
                      </td>
                      {hasFinding && <td>{finding === undefined ? "–" : compact(finding)}</td>}
                      <td>{tokens === undefined ? "–" : compact(tokens)}</td>
                      {currency !== undefined && (
                        <td class="nowrap">
                          {(used.find((row) => row.name === name)?.cost ?? 0).toFixed(2)} {currency}
                        </td>
                      )}
                      {(Object.keys(TIMES) as (keyof typeof TIMES)[]).map((share) => (
                        <td key={share}>{within(ms?.[share])}</td>
                      ))}
                    </tr>
                  ))}
                </Table>
              )}
            </Card>
          );
        }}
      </Shown>
    </Page>
  );
}

type Row = Omit<CallFigures, "errors" | "ms"> & Partial<Pick<CallFigures, "errors" | "ms">>;
