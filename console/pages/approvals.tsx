import { useEffect, useState } from "preact/hooks";
import type {
  ApprovalsAnswer,
  WaitingCall,
  WaitingDefinition,
} from "../../src/faces/http/endpoints/api-types.ts";
import { post } from "../api.ts";
import { useApi } from "../live.ts";
import { Action, Badge, Card, Code, Empty, Page, Shown, Text, type Tone } from "../parts/basics.tsx";
import { Changes } from "../parts/changes.tsx";
import { exact, times } from "../parts/format.ts";

const WHY: Readonly<Record<string, string>> = {
  confirmation: "its author wants a person to confirm it",
  destroys: "it destroys something",
  writes: "it writes",
  permission: "it asks before it goes on",
};
const TONES: Readonly<Record<string, Tone>> = { pending: "plain", changed: "warn", flagged: "bad" };

export function Approvals() {
  const loaded = useApi<ApprovalsAnswer>("/api/approvals", ["approvals", "catalog", "sources"]);
  const approve = async (definitions: readonly WaitingDefinition[]) => {
    const pins = definitions.map(({ route, hash, program }) => ({ route, hash, program }));
    await post("/api/approvals/definitions", { pins });
    loaded.reload();
  };
  return (
    <Page
      title="Approvals"
      lead="Calls and definitions that wait for your yes. No agent sees a definition before it."
    >
      <Shown of={loaded}>
        {({ calls, definitions, more }) => (
          <>
            {calls.map((call) => (
              <Call key={call.id} call={call} reload={loaded.reload} />
            ))}
            {[...Map.groupBy(definitions, ({ source }) => source)].map(([source, own]) => (
              <Card
                key={source}
                title={<bdi>{exact(source)}</bdi>}
                aside={
                  own.length > 1 && (
                    <Action kind="plain" run={() => approve(own)}>
                      Approve all {own.length}
                    </Action>
                  )
                }
              >
                <ul class="definitions">
                  {own.map((definition) => (
                    <li key={definition.route}>
                      <div class="definition-head">
                        <Badge tone={TONES[definition.state] ?? "plain"}>{definition.state}</Badge>
                        <Code>{exact(definition.route)}</Code>
                        <Action run={() => approve([definition])} label={`Approve ${definition.route}`}>
                          Approve
                        </Action>
                      </div>
                      {definition.state === "pending" && (
                        <p class="small outside">{describedAs(definition)}</p>
                      )}
                      {definition.poison.length > 0 && (
                        <p class="problem">
                          It reads like instructions to a model: {definition.poison.join(", ")}.
                        </p>
                      )}
                      <Changes changes={definition.changes} isNew={definition.state === "pending"} />
                    </li>
                  ))}
                </ul>
              </Card>
            ))}
            {more > 0 && <p class="quiet">{times(more, "definition")} more; approve some of these first.</p>}
            {calls.length + definitions.length === 0 && (
              <Card>
                <Empty title="Nothing waits">
                  New and changed definitions of servers appear here, and calls that need a person while this
                  page is open.
                </Empty>
              </Card>
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

/** How a new definition describes itself, which is the first thing to judge. */
function describedAs({ changes }: WaitingDefinition): string {
  const described = changes.find(({ path }) => path === "/description")?.after;
  return typeof described === "string" ? exact(described) : "";
}

function Call({ call, reload }: { call: WaitingCall; reload: () => void }) {
  const answer = (approve: boolean) => async () => {
    await post("/api/approvals/calls", { id: call.id, approve });
    reload();
  };
  return (
    <Card class="urgent" title="A call waits" aside={<Countdown until={call.until} />}>
      <p>
        <bdi>{exact(call.principal)}</bdi> wants to run <Code>{exact(call.op)}</Code>;{" "}
        {WHY[call.why] ?? call.why}. Exactly this:
      </p>
      <Text label="Arguments">{exact(call.args)}</Text>
      <div class="actions">
        <Action kind="main" run={answer(true)}>
          Approve
        </Action>
        <Action kind="danger" run={answer(false)}>
          Decline
        </Action>
      </div>
    </Card>
  );
}

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <span>{Math.max(0, Math.ceil((until - now) / 1_000))} s left</span>;
}
