import { useState } from "preact/hooks";
import type { NoSession, SessionAnswer, SessionsAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { type Loaded, useApi } from "../live.ts";
import { Badge, Card, Code, Empty, Figure, Page, Shown } from "../parts/basics.tsx";
import { ago, clock, compact, number, times } from "../parts/format.ts";

export function Sessions({ rest }: { rest: string }) {
  const [isFailed, setFailed] = useState(false);
  const [who, setWho] = useState("");
  const loaded = useApi<SessionsAnswer>("/api/sessions", ["calls"]);
  const all = loaded.value?.sessions ?? [];
  const sessions = all.filter(
    (session) => (!isFailed || session.failed > 0) && (who === "" || nameOf(session) === who),
  );
  // Without a choice it is the newest, which needs not wait for the list.
  const chosen = rest || (isFailed || who !== "" ? sessions[0]?.id : undefined);
  const path = chosen === undefined ? "/api/session" : `/api/session?id=${encodeURIComponent(chosen)}`;
  const { value, error } = useApi<SessionAnswer | NoSession>(path, ["calls"]);
  const timeline = { value: value?.id === undefined ? undefined : value, error };
  return (
    <Page
      title="Sessions"
      lead="Conversations of agents, call by call: what they searched for, were shown, called, and the tokens of it."
    >
      <Shown of={loaded}>
        {() => {
          const names = [...new Set(all.map(nameOf))].sort();
          return all.length === 0 ? (
            <Card>
              <Empty title="No agent has called yet">
                Conversations appear here while agents work. They stay in memory until the gateway ends.
              </Empty>
            </Card>
          ) : (
            <div class="grid sessions-grid">
              <Card title="Newest first" aside={<span>{sessions.length}</span>}>
                <label class="field">
                  <span>Agent and client</span>
                  <select value={who} onChange={(event) => setWho(event.currentTarget.value)}>
                    <option value="">all</option>
                    {names.map((name) => (
                      <option key={name} value={name}>
                        {name}
                      </option>
                    ))}
                  </select>
                </label>
                <label class="check">
                  <input
                    type="checkbox"
                    checked={isFailed}
                    onChange={(event) => setFailed(event.currentTarget.checked)}
                  />{" "}
                  Only with failures
                </label>
                <ul class="rows">
                  {sessions.map((session) => (
                    <li key={session.id}>
                      <a
                        class="row-link"
                        data-row
                        href={`#/sessions/${session.id}`}
                        aria-current={session.id === (rest || sessions[0]?.id) ? "true" : undefined}
                      >
                        <span class="row-top">
                          <bdi class="outside">{nameOf(session)}</bdi>
                          <time class="quiet small">{ago(session.lastAt)}</time>
                        </span>
                        <span class="quiet small">
                          {times(session.calls, "call")}, {compact(session.tokens)} tokens
                          {session.failed > 0 && `, ${session.failed} failed`}
                        </span>
                        {session.queries[0] && (
                          <span class="small outside one-line">“{session.queries[0]}”</span>
                        )}
                      </a>
                    </li>
                  ))}
                </ul>
              </Card>
              {(rest || sessions[0]) && <Timeline loaded={timeline} isFailed={isFailed} />}
            </div>
          );
        }}
      </Shown>
    </Page>
  );
}

/** An agent, with the client that it calls by. */
function nameOf({ principal, client }: Pick<SessionAnswer, "principal" | "client">): string {
  return client === "" ? principal : `${client} as ${principal}`;
}

function Timeline({
  loaded,
  isFailed,
}: {
  loaded: Pick<Loaded<SessionAnswer>, "value" | "error">;
  isFailed: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Shown of={loaded}>
      {({ steps: all, ...session }) => {
        const steps = isFailed ? all.filter(({ outcome }) => outcome !== "ok") : all;
        return (
          <Card
            title={<bdi class="outside">{nameOf(session)}</bdi>}
            aside={<span>since {clock(session.startedAt)}</span>}
          >
            <div class="figures">
              <Figure label="Calls" value={number(session.calls)} note={`${session.failed} failed`} />
              <Figure label="Tokens" value={compact(session.tokens)} note="in answers" />
              <Figure
                label="Listing everything"
                value={compact(session.everything)}
                note="in every request"
              />
            </div>
            {!isOpen && steps.length > MOST_STEPS && (
              <button type="button" class="button" onClick={() => setOpen(true)}>
                Show {steps.length - MOST_STEPS} earlier calls
              </button>
            )}
            <ol class="timeline">
              {steps.slice(isOpen ? 0 : -MOST_STEPS).map((step) => (
                <li key={`${step.traceId}${step.at}`} class={step.outcome === "ok" ? "" : "failed"}>
                  <div class="step-head">
                    <Badge tone={step.outcome === "ok" ? "accent" : "bad"}>{step.operation}</Badge>
                    {step.dryRun && <Badge>dry run</Badge>}
                    {step.outcome !== "ok" && <span class="problem-inline">{step.outcome}</span>}
                    <span class="quiet small">
                      {clock(step.at)} · {number(step.latencyMs)} ms · {number(step.tokens)} tokens ·{" "}
                      <a href={`#/audit/trace=${step.traceId}`}>audit</a>
                    </span>
                  </div>
                  {step.queries.map((query) => (
                    <p key={query} class="outside">
                      asked for “{query}” <a href={`#/search/${encodeURIComponent(query)}`}>search it</a>
                    </p>
                  ))}
                  <Routes name="called" routes={step.targets} />
                  <Routes name="found" routes={step.found} />
                  <Routes name="was told of" routes={step.unveiled} />
                </li>
              ))}
            </ol>
          </Card>
        );
      }}
    </Shown>
  );
}

const MOST_ROUTES = 6;
/** The newest calls of a conversation, before a person opens the rest. */
const MOST_STEPS = 20;

function Routes({ name, routes }: { name: string; routes: readonly string[] }) {
  if (routes.length === 0) return null;
  return (
    <p class="routes">
      <span class="quiet small">{name}</span>
      {routes.slice(0, MOST_ROUTES).map((route) => (
        <Code key={route}>{route}</Code>
      ))}
      {routes.length > MOST_ROUTES && <span class="quiet small">and {routes.length - MOST_ROUTES} more</span>}
    </p>
  );
}
