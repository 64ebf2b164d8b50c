import type { OverviewAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { useApi } from "../live.ts";
import { Badge, Card, Empty, Figure, Page, Shown, Table } from "../parts/basics.tsx";
import { Chart } from "../parts/chart.tsx";
import { age, ago, compact, number, times } from "../parts/format.ts";

export function Overview() {
  const loaded = useApi<OverviewAnswer>("/api/overview", ["calls", "catalog", "sources", "notices"]);
  return (
    <Page
      title="Overview"
      lead="What each request of an agent carries through Keyhole, and what a list of everything would add."
    >
      <Shown of={loaded}>
        {(answer) => (
          <>
            <Tokens {...answer} />
            <div class="grid two">
              <Calls {...answer} />
              <Health {...answer} />
            </div>
            <Notices notices={answer.notices} />
          </>
        )}
      </Shown>
    </Page>
  );
}

/** Ways in which clients show tools by themselves. */
const WAYS: Readonly<Record<string, string>> = {
  definitions: "whole definitions",
  summaries: "names and the beginning of descriptions",
  names: "names alone, behind a search of its own",
  search: "nothing but a search of its own",
};

function Tokens({ totals, clients, everything, minutes, days }: OverviewAnswer) {
  const { listings } = totals;
  const menu = totals.menus / Math.max(1, listings);
  const list = totals.alone / Math.max(1, listings);
  return (
    <Card title="Tokens put into contexts" aside={<span>in 30 days, over all gateways</span>}>
      {listings + totals.calls === 0 ? (
        <Empty title="No agent has called yet">
          Point an MCP client at this gateway.{" "}
          {everything === 0 ? (
            <>
              No server offers tools yet: add one, or look at <a href="#/approvals">those that wait</a>.
            </>
          ) : (
            `Listing everything would cost it ${number(everything)} tokens.`
          )}
        </Empty>
      ) : (
        <>
          <div class="figures">
            <Figure
              label="Menu in each request"
              value={listings === 0 ? "–" : compact(menu)}
              note={listings === 0 ? "no agent has listed its tools yet" : `${times(listings, "menu")} shown`}
            />
            <Figure
              label="The client's own list instead"
              value={compact(listings === 0 ? everything : list)}
              note={`as each client lists tools; all of this gateway whole: ${number(everything)}`}
            />
            <Figure {...saving(list, menu)} />
          </div>
          {listings > 0 && (
            <div class="compare" aria-hidden="true">
              <div
                class="bar accent"
                style={{ width: `${Math.max(1, Math.min(100, (menu / Math.max(1, list)) * 100))}%` }}
              />
            </div>
          )}
          <Clients clients={clients} />
          <div class="figures">
            <Figure
              label="Answers that find tools"
              value={compact(totals.discovery)}
              note="searches and descriptions; a list needs none"
            />
            <Figure label="Results" value={compact(totals.results)} note="an agent reads them in any case" />
          </div>
          <Chart
            minutes={minutes}
            series={[
              { name: "results", of: ({ results }) => results },
              { name: "finding", of: ({ discovery: tokens }) => tokens },
              { name: "menus", of: ({ menus }) => menus },
            ]}
            label="Tokens by minute"
          />
          <Days days={days} />
        </>
      )}
    </Card>
  );
}

function Clients({ clients }: Pick<OverviewAnswer, "clients">) {
  const listing = clients.filter(({ listings }) => listings > 0);
  if (listing.length === 0) return null;
  return (
    <Table
      head={["Client", "Shows by itself", "Without Keyhole", "With Keyhole", "Saved in each request"]}
      label="Tokens by client"
    >
      {listing.map(({ name, shows, listings, menus, alone }) => (
        <tr key={name}>
          <td>
            <bdi class="outside">{name || "gives no name"}</bdi>
          </td>
          <td>{shows ? WAYS[shows] : "not measured, whole definitions at most"}</td>
          <td>{number(alone / listings)}</td>
          <td>{number(menus / listings)}</td>
          <td>{number((alone - menus) / listings)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** The same over time, as far as days are kept. */
function Days({ days }: Pick<OverviewAnswer, "days">) {
  return (
    <details class="values">
      <summary>Tokens by day</summary>
      <Table
        head={["Day", "Menus shown", "Without Keyhole", "With Keyhole", "Answers that find tools", "Results"]}
        label="Tokens by day"
      >
        {days.map(({ name, listings, alone, menus, discovery, results }) => (
          <tr key={name}>
            <td>{name}</td>
            <td>{number(listings)}</td>
            <td>{listings === 0 ? "–" : number(alone / listings)}</td>
            <td>{listings === 0 ? "–" : number(menus / listings)}</td>
            <td>{number(discovery)}</td>
            <td>{number(results)}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** Compares what one request carries with what it would carry: answers and results belong to neither. */
function saving(list: number, menu: number): { label: string; value: string; note: string } {
  const spared = list - menu;
  if (list === 0) return { label: "Saved in each request", value: "–", note: "nothing to compare yet" };
  return spared >= 0
    ? {
        label: "Saved in each request",
        value: `${Math.round((spared / list) * 100)} %`,
        note: `${number(spared)} tokens`,
      }
    : { label: "More than its own list", value: compact(-spared), note: "tokens in each request" };
}

function Calls({ minutes, totals, discovery }: OverviewAnswer) {
  const last = minutes.filter(({ at }) => at > Date.now() - 5 * 60_000);
  const perMinute = last.reduce((sum, { calls }) => sum + calls, 0) / 5;
  const { searches, ledToCall } = discovery;
  return (
    <Card title="Calls" aside={<a href="#/usage">By tool, server, agent and day</a>}>
      <div class="figures">
        <Figure
          label="A minute"
          value={perMinute < 10 ? perMinute.toFixed(1) : number(perMinute)}
          note="over the last five minutes"
        />
        <Figure
          label="In 30 days"
          value={compact(totals.calls)}
          note={`${compact(totals.failed)} failed, searches included`}
        />
        <Figure
          label="Searches that led to a call"
          value={searches === 0 ? "–" : `${Math.round((ledToCall / searches) * 100)} %`}
          note={`${times(searches, "search", "searches")} since the start`}
        />
      </div>
      <Chart
        minutes={minutes}
        series={[
          { name: "fine", of: ({ calls, failed }) => calls - failed },
          { name: "failed", of: ({ failed }) => failed },
        ]}
        label="Calls by minute"
      />
    </Card>
  );
}

function Health({ sources, search, entries, startedAt, version, catalog }: OverviewAnswer) {
  const waiting = sources.filter(({ waits }) => waits);
  const bad = sources.filter(({ lastError, waits }) => lastError !== undefined && !waits);
  return (
    <Card
      title="Health"
      aside={
        <>
          {waiting.length > 0 && (
            <a href="#/approvals">{times(waiting.length, "server waits", "servers wait")} for you</a>
          )}{" "}
          {bad.length > 0 ? (
            <Badge tone="bad">{times(bad.length, "server fails", "servers fail")}</Badge>
          ) : (
            waiting.length === 0 && <Badge tone="good">fine</Badge>
          )}
        </>
      }
    >
      <dl class="facts">
        <dt>Catalog</dt>
        <dd>
          {Object.entries(entries)
            .map(([kind, count]) => times(count, kind))
            .join(", ") || "empty"}
        </dd>
        <dt>Search</dt>
        <dd>
          {search.mode === "hybrid" ? "by words and vectors" : "by words"}
          {search.waiting ? `, ${times(search.waiting, "entry", "entries")} wait for vectors` : ""}
        </dd>
        <dt>Servers</dt>
        <dd>
          {sources.length === 0
            ? "none besides the code"
            : `${sources.length - bad.length - waiting.length} of ${sources.length} are fine`}
          {bad.map(({ id, lastError }) => (
            <p class="problem" key={id}>
              <bdi>
                {id.slice(id.indexOf(":") + 1)}: {lastError}
              </bdi>
            </p>
          ))}
        </dd>
        <dt>Running</dt>
        <dd>
          for {age(startedAt)}, version {version}, catalog <code>{catalog}</code>
        </dd>
      </dl>
    </Card>
  );
}

function Notices({ notices }: Pick<OverviewAnswer, "notices">) {
  if (notices.length === 0) return null;
  return (
    <Card title="Notices">
      <ul class="rows">
        {notices.map(({ at, what, detail, times: count }) => (
          <li key={`${what}${detail}`}>
            <time class="quiet">{ago(at)}</time> <strong>{what}</strong> <bdi class="outside">{detail}</bdi>
            {count > 1 && <span class="quiet"> {times(count, "time")}</span>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
