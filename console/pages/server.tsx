import { useState } from "preact/hooks";
import type {
  AskWord,
  FiguresAnswer,
  ServerAnswer,
  ServerChange,
  ShownTool,
} from "../../src/faces/http/endpoints/api-types.ts";
import { attempt } from "../api.ts";
import { useApi } from "../live.ts";
import { Action, Card, Lane, Page, Shown, Table, Text } from "../parts/basics.tsx";
import { exact, number, times } from "../parts/format.ts";
import { Limits } from "../parts/limits.tsx";
import { Server } from "./server-card.tsx";

/** Changes the config of a server. */
export function change(server: string, wanted: ServerChange): Promise<void> {
  return attempt("/api/server/change", { server, ...wanted });
}

/** The page of one server. */
export function OneServer({ id }: { id: string }) {
  const loaded = useApi<ServerAnswer>(`/api/server?id=${encodeURIComponent(id)}`, [
    "sources",
    "catalog",
    "calls",
    "approvals",
  ]);
  const figures = useApi<FiguresAnswer>("/api/figures?days=30", ["calls"]);
  const [isRemoving, setRemoving] = useState(false);
  const label = loaded.value?.server.label ?? id.split(":").at(-1) ?? id;
  const leave = async (wanted: ServerChange) => {
    await change(label, wanted);
    location.hash = "#/servers";
  };
  return (
    <Page
      title={label}
      lead="What it offers to agents, what they use of it, and what it says."
      actions={
        <>
          <a class="button" href="#/servers">
            All servers
          </a>
          {loaded.value?.rules && (
            <>
              <Action run={() => leave({ disabled: true })}>Switch off</Action>
              {isRemoving ? (
                <Action kind="danger" run={() => leave({ remove: true })}>
                  Remove it from {loaded.value.rules.file}
                </Action>
              ) : (
                <button type="button" class="button" onClick={() => setRemoving(true)}>
                  Remove…
                </button>
              )}
            </>
          )}
        </>
      }
    >
      <Shown of={loaded}>
        {({ server, tools, rules, proposal }) => (
          <div class="stack">
            <Server {...{ ...server, stderr: "" }} reload={loaded.reload} />
            {proposal && (
              <Card title="Sandbox">
                <Limits {...{ server: label, id, proposal, reload: loaded.reload }} />
              </Card>
            )}
            <Card title="Tools" aside={<span>{tools.length}</span>}>
              {tools.length === 0 ? (
                <p class="quiet">
                  It shows no tools now. Those that wait are on the page of{" "}
                  <a href="#/approvals">approvals</a>.
                </p>
              ) : (
                <Table
                  head={["Tool", "Does", "Tokens", "Calls in 30 days", "Asks you", "Seen"]}
                  label={`Tools of ${label}`}
                  class="cards"
                >
                  {tools.map((tool) => (
                    <Tool
                      key={tool.op}
                      tool={tool}
                      calls={figures.value?.tools.find(({ name }) => name === tool.op)?.calls ?? 0}
                      change={rules && ((wanted) => change(label, wanted))}
                    />
                  ))}
                </Table>
              )}
              {rules?.hidden.map((tool) => (
                <p key={tool}>
                  <code class="outside">{exact(tool)}</code> is hidden from all agents.{" "}
                  <Action
                    run={() => change(label, { hide: { tool, hidden: false } })}
                    label={`Show again ${tool}`}
                  >
                    Show again
                  </Action>
                </p>
              ))}
            </Card>
            <Log text={server.stderr} label={label} />
          </div>
        )}
      </Shown>
    </Page>
  );
}

const ASKS: readonly (readonly [AskWord | "", string])[] = [
  ["", "as the server's setting"],
  ["never", "never"],
  ["destructive", "if it destroys"],
  ["writes", "if it writes"],
  ["always", "before each call"],
];

interface ToolProps {
  readonly tool: ShownTool;
  readonly calls: number;
  readonly change: ((wanted: ServerChange) => Promise<void>) | undefined;
}

function Tool({ tool, calls, change: save }: ToolProps) {
  const { name, description, lane, tokens, parameters, ask = "" } = tool;
  const [error, setError] = useState<string>();
  const askWhen = (when: string) =>
    save?.({ ask: { tool: name, ...(when !== "" && { when: when as AskWord }) } }).then(
      () => setError(undefined),
      (failed: Error) => setError(failed.message),
    );
  return (
    <tr>
      <td>
        <details>
          <summary>
            <code class="outside">{exact(name)}</code>
          </summary>
          <p class="small outside lines">{exact(description)}</p>
          <Text label={`Parameters of ${name}`}>{exact(parameters)}</Text>
        </details>
      </td>
      <td data-label="Does">
        <Lane lane={lane} />
      </td>
      <td data-label="Tokens">{number(tokens)}</td>
      <td data-label="Calls in 30 days">{number(calls)}</td>
      <td data-label="Asks you">
        {save ? (
          <select
            aria-label={`When ${name} asks you`}
            value={ask}
            onChange={({ currentTarget }) => void askWhen(currentTarget.value)}
          >
            {ASKS.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        ) : (
          "as its config says"
        )}
        {error && (
          <span class="problem" role="alert">
            {error}
          </span>
        )}
      </td>
      <td>
        {save && (
          <Action run={() => save({ hide: { tool: name, hidden: true } })} label={`Hide ${name}`}>
            Hide
          </Action>
        )}
      </td>
    </tr>
  );
}

/** The last lines of stderr, which follow the server. */
function Log({ text, label }: { text: string; label: string }) {
  const [part, setPart] = useState("");
  const lines = text.split("\n").filter((line) => line.toLowerCase().includes(part.toLowerCase()));
  return (
    <Card
      title="Log"
      aside={
        <label class="field inline">
          <span class="hidden">Filter the log</span>
          <input
            type="search"
            placeholder="filter"
            value={part}
            onInput={(event) => setPart(event.currentTarget.value)}
          />
        </label>
      }
    >
      {text === "" ? (
        <p class="quiet">It has written nothing to stderr.</p>
      ) : (
        <>
          <p class="quiet small">{times(lines.length, "line")}, the newest last</p>
          <Text label={`Log of ${label}`}>{lines.join("\n")}</Text>
        </>
      )}
    </Card>
  );
}

/** A new server. It waits for a yes to its program before it starts. */
export function AddServer({ reload }: { reload: () => void }) {
  const [name, setName] = useState("");
  const [line, setLine] = useState("");
  const add = async () => {
    await change(name, { add: line });
    setName("");
    setLine("");
    reload();
  };
  return (
    <Card title="Add a server">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label class="field">
          <span>Name</span>
          <input type="text" value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label class="field grow">
          <span>Command or address</span>
          <input
            type="text"
            value={line}
            placeholder="npx -y @modelcontextprotocol/server-memory, or https://…"
            onInput={(event) => setLine(event.currentTarget.value)}
          />
        </label>
      </form>
      <Action kind="main" run={add}>
        Add it
      </Action>
      <p class="quiet small">
        It starts after your yes on the page of <a href="#/approvals">approvals</a>.
      </p>
    </Card>
  );
}
