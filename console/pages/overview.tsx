import type { OverviewAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { useApi } from "../live.ts";
import { Badge, Card, Empty, Figure, Page, Shown } from "../parts/basics.tsx";
import { Chart } from "../parts/chart.tsx";
import { age, ago, compact, number, times } from "../parts/format.ts";

export function Overview() {
  const loaded = useApi<OverviewAnswer>("/api/overview", [
    "calls",
    "catalog",
    "sources",
    "approvals",
    "notices",
  ]);
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

function Tokens({ totals, everything, minutes, discovery }: OverviewAnswer) {
  const { listings } = totals;
  const menu = totals.menus / Math.max(1, listings);
  const list = totals.everything / Math.max(1, listings);
  return (
    <Card title="Tokens put into contexts" aside={<span>since the start</span>}>
      {listings + totals.calls === 0 ? (
        <Empty title="No agent has called yet">
          Point an MCP client at this gateway. Listing everything would cost it {number(everything)} tokens.
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
              label="List of everything instead"
              value={compact(listings === 0 ? everything : list)}
              note="by a client that hides no tools; keyhole servers compares those that do"
            />
            <Figure {...saving(list, menu)} />
          </div>
          <div class="compare" aria-hidden="true">
            <div
              class="bar accent"
              style={{ width: `${Math.max(1, Math.min(100, (menu / Math.max(1, list)) * 100))}%` }}
            />
          </div>
          <div class="figures">
            <Figure
              label="Answers that find tools"
              value={compact(totals.discovery)}
              note={`${times(discovery.searches, "search", "searches")}; a list needs none`}
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
        </>
      )}
    </Card>
  );
}

/** What one request carries is compared with what it would carry: answers and results belong to neither. */
function saving(list: number, menu: number): { label: string; value: string; note: string } {
  const spared = list - menu;
  if (list === 0) return { label: "Saved in each request", value: "–", note: "nothing to compare yet" };
  return spared >= 0
    ? {
        label: "Saved in each request",
        value: `${Math.round((spared / list) * 100)} %`,
        note: `${number(spared)} tokens`,
      }
    : { label: "More than a list", value: compact(-spared), note: "tokens in each request" };
}

function Calls({ minutes, totals, discovery }: OverviewAnswer) {
  const last = minutes.filter(({ at }) => at > Date.now() - 5 * 60_000);
  const perMinute = last.reduce((sum, { calls }) => sum + calls, 0) / 5;
  const { searches, ledToCall } = discovery;
  return (
    <Card title="Calls">
      <div class="figures">
        <Figure
          label="A minute"
          value={perMinute < 10 ? perMinute.toFixed(1) : number(perMinute)}
          note="over the last five minutes"
        />
        <Figure label="In total" value={compact(totals.calls)} note={`${compact(totals.failed)} failed`} />
        <Figure
          label="Searches that led to a call"
          value={searches === 0 ? "–" : `${Math.round((ledToCall / searches) * 100)} %`}
          note={times(searches, "search", "searches")}
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

function Health({ sources, search, entries, domains, startedAt, waiting, version, catalog }: OverviewAnswer) {
  const bad = sources.filter(({ lastError }) => lastError !== undefined);
  const waits = waiting.servers + waiting.definitions + waiting.calls;
  return (
    <Card
      title="Health"
      aside={
        bad.length === 0 ? (
          <Badge tone="good">fine</Badge>
        ) : (
          <Badge tone="bad">{times(bad.length, "source fails", "sources fail")}</Badge>
        )
      }
    >
      <dl class="facts">
        <dt>Catalog</dt>
        <dd>
          {Object.entries(entries)
            .map(([kind, count]) => times(count, kind))
            .join(", ") || "empty"}{" "}
          in {times(domains, "domain")}
        </dd>
        <dt>Search</dt>
        <dd>
          {search.mode === "hybrid" ? "by words and vectors" : "by words"}
          {search.waiting ? `, ${times(search.waiting, "entry", "entries")} wait for vectors` : ""}
        </dd>
        <dt>Sources</dt>
        <dd>
          {sources.length === 0
            ? "none besides the code"
            : `${sources.length - bad.length} of ${sources.length} are fine`}
          {bad.map(({ id, lastError }) => (
            <p class="problem" key={id}>
              <bdi>
                {id}: {lastError}
              </bdi>
            </p>
          ))}
        </dd>
        <dt>Waiting</dt>
        <dd>{waits === 0 ? "nothing" : <a href="#/approvals">{times(waits, "thing")} for you</a>}</dd>
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
        {notices.map(({ at, what, detail }) => (
          <li key={`${at}${detail}`}>
            <time class="quiet">{ago(at)}</time> <strong>{what}</strong> <bdi class="outside">{detail}</bdi>
          </li>
        ))}
      </ul>
    </Card>
  );
}
