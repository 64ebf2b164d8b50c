import type { UnmetAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { useApi } from "../live.ts";
import { Badge, Card, Code, Empty, Page, Shown } from "../parts/basics.tsx";
import { ago, times } from "../parts/format.ts";

export function Unused() {
  const loaded = useApi<UnmetAnswer>("/api/unmet", ["calls", "catalog"]);
  return (
    <Page title="Unused searches" lead="What agents searched for without calling any of the hits.">
      <Shown of={loaded}>
        {({ unmet }) =>
          unmet.length === 0 ? (
            <Card>
              <Empty title="Every search was used so far">
                A search counts as unused when the agent asks for something else, or calls nothing for ten
                minutes.
              </Empty>
            </Card>
          ) : (
            <Card>
              <ul class="unmet">
                {unmet.map((need) => (
                  <li key={need.query}>
                    <div class="definition-head">
                      <Badge tone={need.empty ? "bad" : "warn"}>
                        {need.empty ? "nothing found" : "not used"}
                      </Badge>
                      <a data-row class="need outside" href={`#/search/${encodeURIComponent(need.query)}`}>
                        {need.query}
                      </a>
                      <span class="quiet small">
                        {times(need.times, "time")}, last {ago(need.lastAsked)}
                      </span>
                    </div>
                    {need.shown.length > 0 && (
                      <p class="routes">
                        <span class="quiet small">shown</span>
                        {need.shown.map((route) => (
                          <Code key={route}>{route}</Code>
                        ))}
                      </p>
                    )}
                    <p class="advice">{adviceFor(need)}</p>
                  </li>
                ))}
              </ul>
            </Card>
          )
        }
      </Shown>
    </Page>
  );
}

function adviceFor({ empty, times: count }: UnmetAnswer["unmet"][number]): string {
  if (empty)
    return "Give the entry that should match a phrase or an alias in these words. If no entry should match, agents miss a tool.";
  return count > 1
    ? "Asked repeatedly: the right entry may rank too low. Add these words to its phrases, or let the first sentences of the others say what they are for."
    : "One of these may be right without saying so. Try the search, and read the first sentence of each description.";
}
