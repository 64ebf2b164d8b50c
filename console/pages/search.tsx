import { useEffect, useState } from "preact/hooks";
import type { Hit } from "../../src/core/answers/hit.ts";
import type { PrincipalsAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import type { Explanation } from "../../src/search/port/search-index.ts";
import { post } from "../api.ts";
import { useApi } from "../live.ts";
import { Badge, Card, Code, Empty, Lane, Page, Text } from "../parts/basics.tsx";
import { number, times } from "../parts/format.ts";
import { Why } from "../parts/why.tsx";
import { Try } from "./try.tsx";

interface Found {
  readonly text: string;
  readonly tokens: number;
  readonly hits: readonly Hit[];
  readonly explanations?: Readonly<Record<string, Explanation>>;
  readonly queries: readonly string[];
  readonly suggestions: readonly string[];
}

const PAUSE_MS = 120;

export function Search({ rest }: { rest: string }) {
  const people = useApi<PrincipalsAnswer>("/api/principals", ["catalog"]);
  const [need, setNeed] = useState(rest);
  const [as, setAs] = useState("");
  const [found, setFound] = useState<Found>();
  const [error, setError] = useState<string>();
  const [chosen, setChosen] = useState<string>();
  useEffect(() => setNeed(rest), [rest]);
  // The address leads back to the search, without an entry in the history for each letter.
  useEffect(() => history.replaceState(null, "", `#/search/${encodeURIComponent(need)}`), [need]);
  const who = people.value?.principals.find(({ id }) => id === as) ?? people.value?.principals[0];

  useEffect(() => {
    if (need.trim() === "") return setFound(undefined);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const path = `/api/ask${as && `?as=${encodeURIComponent(as)}`}`;
      post<Found>(path, { query: need, explain: true }, stop.signal).then(
        (answer) => {
          setFound(answer);
          setError(undefined);
        },
        (failed: Error) => stop.signal.aborted || setError(failed.message),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [need, as]);

  const hit = found?.hits.find(({ route }) => route === chosen);
  return (
    <Page
      title="Search"
      lead="The exact answer that an agent gets, and the reason for the place of each hit."
    >
      <search>
        <form class="ask-form" onSubmit={(event) => event.preventDefault()}>
          <label class="field grow">
            <span>What an agent needs</span>
            <input
              id="need"
              type="search"
              value={need}
              placeholder="refund an order, mark a task as done, …"
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setNeed(event.currentTarget.value)}
            />
          </label>
          <div class="field">
            <label for="as">With the rights of</label>
            <select id="as" value={who?.id ?? ""} onChange={(event) => setAs(event.currentTarget.value)}>
              {people.value?.principals.map(({ id }) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
          </div>
        </form>
      </search>
      {who && (
        <p class="quiet small">
          <bdi>{who.id}</bdi> sees {times(who.entries, "entry", "entries")},{" "}
          {who.allowWrite ? "may write" : "only reads"}
          {who.scopes.length > 0 && `, has the scopes ${who.scopes.join(", ")}`}. Its menu costs{" "}
          {number(who.menu)} tokens; listing everything would cost {number(who.everything)}.
        </p>
      )}
      {error && <p class="problem">{error}</p>}
      {!found && !error && (
        <Card>
          <Empty title="Type what an agent might need">
            Your searches count nowhere: not as use, not in figures. <kbd>/</kbd> brings you back here.
          </Empty>
        </Card>
      )}
      {found && (
        <div class="grid search-grid" aria-live="polite">
          <Card
            title="Why these"
            aside={<span>{times(found.hits.filter((one) => !one.entryPoint).length, "hit")}</span>}
          >
            <Hits found={found} chosen={chosen} choose={setChosen} />
          </Card>
          <div class="stack">
            {hit && who && (
              <Try
                key={`${hit.route} ${who.id}`}
                {...{
                  hit,
                  as: who.id,
                  isSelf: who === people.value?.principals[0],
                  mayWrite: who.allowWrite,
                }}
              />
            )}
            <Card
              title="As the model reads it"
              aside={
                <Badge tone="accent">
                  <span data-testid="cost">{number(found.tokens)}</span> tokens
                </Badge>
              }
            >
              <Text label="The answer">{found.text}</Text>
            </Card>
          </div>
        </div>
      )}
    </Page>
  );
}

function Hits({
  found,
  chosen,
  choose,
}: {
  found: Found;
  chosen: string | undefined;
  choose: (route: string) => void;
}) {
  const best = Math.max(
    ...found.hits.map(({ route }) => found.explanations?.[route]?.lexical ?? 0),
    Number.EPSILON,
  );
  if (found.hits.length === 0)
    return (
      <Empty title="Nothing matches">
        {found.suggestions.length > 0
          ? `Near names: ${found.suggestions.join(", ")}.`
          : "Add a phrase or an alias to the entry that should match."}
      </Empty>
    );
  return (
    <ol class="hits">
      {found.hits.map((hit, place) => (
        <li key={hit.route} class={hit.route === chosen ? "chosen" : ""}>
          <button
            type="button"
            class="hit"
            data-row
            aria-pressed={hit.route === chosen}
            onClick={() => choose(hit.route)}
          >
            <span class="place">{place + 1}</span>
            <span class="hit-text">
              <Code>{hit.route}</Code>
              <span class="summary outside">{hit.summary}</span>
            </span>
            <span class="hit-badges">
              {hit.kind === "tool" ? <Lane lane={hit.lane} /> : <Badge>{hit.kind}</Badge>}
              {hit.entryPoint && <Badge>entry point</Badge>}
              {hit.weak && <Badge>weak</Badge>}
              {hit.unavailable && <Badge tone="bad">unavailable</Badge>}
            </span>
          </button>
          <Why
            need={found.queries.join(" ")}
            explanation={found.explanations?.[hit.route]}
            best={best}
            isEntryPoint={hit.entryPoint ?? false}
          />
        </li>
      ))}
    </ol>
  );
}
