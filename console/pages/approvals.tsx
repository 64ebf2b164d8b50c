import { useEffect, useState } from "preact/hooks";
import type { Lane } from "../../src/core/nouns/entry.ts";
import type {
  ApprovalsAnswer,
  ShownProgram,
  WaitingCall,
  WaitingDefinition,
  WaitingServer,
} from "../../src/faces/http/endpoints/api-types.ts";
import { attempt, post } from "../api.ts";
import { useApi } from "../live.ts";
import { Action, Badge, Card, Code, DOES, Empty, Page, Shown, Text, type Tone } from "../parts/basics.tsx";
import { Changes } from "../parts/changes.tsx";
import { age, exact, number, times } from "../parts/format.ts";
import { Limits } from "../parts/limits.tsx";
import { useNotificationChoice } from "../use-notifications.ts";
import { change } from "./use-server.ts";

const WHY: Readonly<Record<string, string>> = {
  confirmation: "its author wants a person to confirm it",
  destroys: "it destroys something",
  writes: "it writes",
  steered: "it writes, after text of another server tried to steer the model",
  permission: "it asks before it goes on",
};
const EFFECTS = { read: "read", write: "write", destructive: "destroy" } as const;
const TONES: Readonly<Record<string, Tone>> = {
  pending: "plain",
  changed: "warn",
  flagged: "bad",
  reworded: "accent",
  rejected: "bad",
};
/** Lines of a description that are shown before a person opens the rest. */
const FOLDED_LINES = 4;
const FOLDED_CHARS = 400;

export function Approvals() {
  const loaded = useApi<ApprovalsAnswer>("/api/approvals", ["approvals", "catalog", "sources", "calls"]);
  return (
    <Page
      title="Approvals"
      lead="Servers, tools and calls that wait for your yes. No agent sees a tool before it."
      actions={<NotifyMe />}
    >
      <Shown of={loaded}>
        {({ calls, servers, isEditable }) => (
          <>
            {calls.map((call) => (
              <Call key={call.id} call={call} reload={loaded.reload} />
            ))}
            {servers.map((server) => (
              <Server key={server.server} {...{ server, isEditable, reload: loaded.reload }} />
            ))}
            {calls.length + servers.length === 0 && (
              <Card>
                <Empty title="Nothing waits">
                  New servers, new and changed tools, and calls that need a person appear here.
                </Empty>
              </Card>
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

function NotifyMe() {
  const { isPossible, isOn, turn } = useNotificationChoice();
  if (!isPossible) return null;
  return (
    <Action run={() => turn(!isOn)}>
      {isOn ? "Stop notifying me of calls" : "Notify me of calls that wait"}
    </Action>
  );
}

interface ServerProps {
  readonly server: WaitingServer;
  readonly isEditable: boolean;
  reload(): void;
}

function Server({ server, isEditable, reload }: ServerProps) {
  const { program, proposal, definitions, id, reason, waiting: all } = server;
  /** Choices of the person; a definition without one is chosen unless it tries to steer a model. */
  const [choices, setChoices] = useState<Readonly<Record<string, boolean>>>({});
  /** The person's words for effects. */
  const [lanes, setLanes] = useState<Readonly<Record<string, Lane | undefined>>>({});
  const laneOf = (one: WaitingDefinition) => lanes[`${one.route} ${one.hash}`] ?? one.lane ?? one.ownLane;
  const milder = definitions.filter((one) => one.milder && laneOf(one) !== one.milder);
  const countMilder = async () =>
    setLanes({
      ...lanes,
      ...Object.fromEntries(milder.map((one) => [`${one.route} ${one.hash}`, one.milder])),
    });
  const waiting = definitions.filter(({ state }) => state !== "rejected" && state !== "reworded");
  const isChosen = ({ route, hash, warnings }: WaitingDefinition) =>
    choices[`${route} ${hash}`] ?? warnings.length === 0;
  const chosen = waiting.filter(isChosen);
  const total = Object.values(all.lanes).reduce((sum, count) => sum + count, 0);
  /** Whether the person left every tick and every effect as it was: then a yes speaks for all, also those that are not listed. */
  const isAll = waiting.every(
    (one) => isChosen(one) === (one.warnings.length === 0) && laneOf(one) === one.ownLane,
  );
  const decideAll = async (approve: boolean) => {
    await post("/api/approvals/definitions", { all: { server: server.server, digest: all.digest, approve } });
    reload();
  };
  const decide = async (approve: readonly WaitingDefinition[], reject: readonly WaitingDefinition[]) => {
    const keys = (some: readonly WaitingDefinition[]) =>
      some.map((one) => {
        const { route, hash, program, ownLane } = one;
        const lane = laneOf(one);
        return { route, hash, program, ...(lane !== ownLane && { lane }) };
      });
    await post("/api/approvals/definitions", { approve: keys(approve), reject: keys(reject) });
    reload();
  };
  return (
    <Card
      title={<bdi>{exact(server.server)}</bdi>}
      aside={
        total > 1 && (
          <div class="actions">
            {isAll ? (
              <Action kind="main" run={() => decideAll(true)}>
                {all.flagged === 0
                  ? `Approve all ${number(total)}`
                  : `Approve ${number(total - all.flagged)} without warnings`}
              </Action>
            ) : (
              <Action kind="main" run={() => decide(chosen, [])}>
                Approve {chosen.length} chosen
              </Action>
            )}
            <Action kind="danger" run={() => decideAll(false)}>
              Reject all {number(total)}
            </Action>
          </div>
        )
      }
    >
      {reason && !program && (
        <p>
          It waits for you: {exact(reason)}.{" "}
          {id && <a href={`#/servers/${encodeURIComponent(id)}`}>To its page</a>}
        </p>
      )}
      {total > 0 && (
        <p class="quiet">
          {times(total, "definition waits", "definitions wait")}:{" "}
          {Object.entries(all.lanes)
            .map(([lane, count]) => `${number(count)} ${EFFECTS[lane as keyof typeof EFFECTS]}`)
            .join(", ")}
          {total > waiting.length && `; the first ${waiting.length} are listed`}.
        </p>
      )}
      {program && id && <Program key={program.hash} {...{ server: server.server, id, program, reload }} />}
      {program && " "}
      {program && isEditable && (
        <Action run={() => change(server.server, { disabled: true }).finally(reload)}>
          Switch {exact(server.server)} off
        </Action>
      )}
      {proposal && id && <Limits {...{ server: server.server, id, proposal, reload }} />}
      {milder.length > 0 && (
        <p>
          {times(milder.length, "tool")} may do less than shown: the name only reads and the server does not
          say so, or only a hint destroys that the server gives to everything.{" "}
          <Action run={countMilder}>Count {milder.length} by their looks</Action>
        </p>
      )}
      <ul class="definitions">
        {definitions.map((definition) => (
          <Definition
            key={definition.route}
            definition={definition}
            isChosen={isChosen(definition)}
            lane={laneOf(definition)}
            onLane={(lane) => setLanes({ ...lanes, [`${definition.route} ${definition.hash}`]: lane })}
            onChoose={(is) => setChoices({ ...choices, [`${definition.route} ${definition.hash}`]: is })}
            decide={decide}
          />
        ))}
      </ul>
    </Card>
  );
}

interface ProgramProps {
  readonly server: string;
  readonly id: string;
  readonly program: ShownProgram;
  reload(): void;
}

/** The question whether a server may start. There is no yes before the whole program is on the page, above it. */
function Program({ server, id, program: { hash, lines }, reload }: ProgramProps) {
  const [isOpen, setOpen] = useState(false);
  const start = () => attempt("/api/upstreams/start", { id, hash }).finally(reload);
  if (!isOpen)
    return (
      <p>
        May it start?{" "}
        <button type="button" class="button" aria-expanded="false" onClick={() => setOpen(true)}>
          Show what {exact(server)} runs or reaches
        </button>
      </p>
    );
  return (
    <>
      <p>May it start? It runs or reaches exactly this:</p>
      <Text label={`Program of ${server}`} class="whole">
        {exact(lines.join("\n"))}
      </Text>
      <Action kind="main" run={start}>
        Let {exact(server)} start
      </Action>
    </>
  );
}

interface DefinitionProps {
  readonly definition: WaitingDefinition;
  readonly isChosen: boolean;
  readonly lane: Lane | undefined;
  onChoose(isChosen: boolean): void;
  onLane(lane: Lane): void;
  decide(approve: readonly WaitingDefinition[], reject: readonly WaitingDefinition[]): Promise<void>;
}

function Definition({ definition, isChosen, lane, onChoose, onLane, decide }: DefinitionProps) {
  const { route, state, effect, tokens, warnings, changes } = definition;
  const { name: _, description: __, ...details } = definition.definition;
  const mayChoose = state !== "rejected" && state !== "reworded";
  return (
    <li>
      <div class="definition-head">
        {mayChoose && (
          <input
            type="checkbox"
            checked={isChosen}
            aria-label={`Choose ${route}`}
            onChange={(event) => onChoose(event.currentTarget.checked)}
          />
        )}
        <Badge tone={TONES[state] ?? "plain"}>{state}</Badge>
        <Code>{exact(route)}</Code>
        {lane === undefined ? (
          <span class="quiet small">{effect}</span>
        ) : (
          <select
            aria-label={`Effect of ${route}`}
            value={lane}
            onChange={(event) => onLane(event.currentTarget.value as Lane)}
          >
            {Object.entries(DOES).map(([one, does]) => (
              <option key={one} value={one}>
                {does}
              </option>
            ))}
          </select>
        )}
        <span class="quiet small">{number(tokens)} tokens</span>
        <Action run={() => decide([definition], [])} label={`Approve ${route}`}>
          Approve
        </Action>
        {state !== "rejected" && (
          <Action run={() => decide([], [definition])} label={`Reject ${route}`}>
            Reject
          </Action>
        )}
      </div>
      {warnings.map((warning) => (
        <p class="problem" key={warning}>
          {warning}
        </p>
      ))}
      <Changes changes={changes} isNew={false} />
      {changes.length === 0 && (
        <Description text={definition.definition.description} isOpen={warnings.length > 0} />
      )}
      <details>
        <summary>Parameters and the rest</summary>
        <Text label={`Definition of ${route}`}>{exact(details)}</Text>
      </details>
    </li>
  );
}

/** A description with its line breaks, folded to its first lines. */
function Description({ text, isOpen }: { text: unknown; isOpen: boolean }) {
  const shown = typeof text === "string" ? exact(text) : "";
  const first = shown.split("\n").slice(0, FOLDED_LINES).join("\n").slice(0, FOLDED_CHARS);
  if (isOpen || first === shown) return <p class="small outside lines">{shown}</p>;
  return (
    <details>
      <summary class="outside lines">{first} …</summary>
      <p class="small outside lines">{shown}</p>
    </details>
  );
}

function Call({ call, reload }: { call: WaitingCall; reload: () => void }) {
  const answer = (approve: boolean) => async () => {
    await post("/api/approvals/calls", { id: call.id, approve, hash: call.hash });
    reload();
  };
  return (
    <Card class="urgent" title="A call waits" aside={<Since at={call.askedAt} />}>
      <p>
        <bdi>{exact(call.principal)}</bdi> wants to run <Code>{exact(call.op)}</Code>;{" "}
        {WHY[call.why] ?? call.why}. Exactly this:
      </p>
      <Text label="Arguments">{exact(call.args)}</Text>
      <div class="actions">
        <Action kind="main" run={answer(true)}>
          {call.hash ? "Approve for the next time" : "Approve"}
        </Action>
        <Action kind="danger" run={answer(false)}>
          Decline
        </Action>
      </div>
      {call.hash && (
        <p class="quiet small">
          Its client could not wait. After your yes the agent may make exactly this call once, within ten
          minutes; after your no its next try is told so. Without an answer the question goes away after an
          hour.
        </p>
      )}
    </Card>
  );
}

/** A call waits as long as its client does. */
function Since({ at }: { at: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <span>for {age(at, now)}</span>;
}
