import { useState } from "preact/hooks";
import type { UsageAnswer, UsageFigures } from "../../src/faces/http/endpoints/api-types.ts";
import { useApi } from "../live.ts";
import { Card, Empty, Page, Shown } from "../parts/basics.tsx";
import { compact, number } from "../parts/format.ts";

const SPANS = [1, 7, 30] as const;

export function Usage() {
  const [days, setDays] = useState<number>(7);
  const loaded = useApi<UsageAnswer>(`/api/usage?days=${days}`, ["calls"]);
  return (
    <Page
      title="Usage"
      lead="Who used what: calls, tokens of answers, and money where the config has prices."
      actions={
        <label>
          Days{" "}
          <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
            {SPANS.map((span) => (
              <option key={span} value={span}>
                {span}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <Shown of={loaded}>
        {({ kept, people, servers, tools, currency }) =>
          !kept || people.length === 0 ? (
            <Card>
              <Empty title={kept ? "Nobody has called yet" : "Usage is not counted here"}>
                Calls over HTTP are counted by person, server and tool; docs/team.md says how to limit them.
              </Empty>
            </Card>
          ) : (
            <>
              <Table title="People" rows={people} currency={currency} />
              <Table title="Servers" rows={servers} currency={currency} />
              <Table title="Tools" rows={tools} currency={currency} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}

interface TableParts {
  readonly title: string;
  readonly rows: readonly UsageFigures[];
  readonly currency: string | undefined;
}

function Table({ title, rows, currency }: TableParts) {
  return (
    <Card title={title} aside={<span>{rows.length}</span>}>
      <div class="table">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Calls</th>
              <th scope="col">Failed</th>
              <th scope="col">Tokens</th>
              {currency !== undefined && <th scope="col">Cost</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, calls, failed, tokens, cost }) => (
              <tr key={name}>
                <td>
                  <bdi>{name}</bdi>
                </td>
                <td>{number(calls)}</td>
                <td>{number(failed)}</td>
                <td>{compact(tokens)}</td>
                {currency !== undefined && (
                  <td>
                    {(cost ?? 0).toFixed(2)} {currency}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
