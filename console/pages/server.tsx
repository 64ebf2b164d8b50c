import { useEffect, useRef, useState } from "preact/hooks";
import type { LogAnswer, ServerAnswer, ServerChange } from "../../src/faces/http/endpoints/api-types.ts";
import { useApi } from "../live.ts";
import { Action, Card, FilterField, Lane, Page, Shown, Table } from "../parts/basics.tsx";
import { exact, number, times } from "../parts/format.ts";
import { Limits } from "../parts/limits.tsx";
import { Server } from "./server-card.tsx";
import { ServerSettings } from "./server-settings.tsx";
import { AskOfTool, HideTool } from "./tool.tsx";
import { change, useServer } from "./use-server.ts";

/** The page of one server. */
export function OneServer({ id }: { id: string }) {
  const { loaded, label, figuresOf, save } = useServer(id);
  const [isRemoving, setRemoving] = useState(false);
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
        {({ server, rules, proposal, tools }) => (
          <div class="stack">
            <Server {...server} reload={loaded.reload} />
            {proposal && (
              <Card title="Sandbox">
                <Limits {...{ server: label, id, proposal, reload: loaded.reload }} />
              </Card>
            )}
            <Tools {...{ id, label, tools, figuresOf, save }} />
            {rules && save && <ServerSettings {...{ rules, save }} />}
            <Log id={id} label={label} />
          </div>
        )}
      </Shown>
    </Page>
  );
}

/** A page of thousands would help nobody: the filter finds the others. */
const MOST_TOOLS = 100;

interface ToolsProps extends Pick<ReturnType<typeof useServer>, "label" | "figuresOf" | "save"> {
  readonly id: string;
  readonly tools: ServerAnswer["tools"];
}

function Tools({ id, label, tools, figuresOf, save }: ToolsProps) {
  const [part, setPart] = useState("");
  const fitting = tools.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(part.toLowerCase()),
  );
  const aside = <FilterField label="Filter the tools" value={part} onChange={setPart} />;
  return (
    <Card title={`${times(tools.length, "tool")} in use`} aside={tools.length > 0 && aside}>
      {tools.length === 0 ? (
        <p class="quiet">
          It shows no tools now. Those that wait are on the page of <a href="#/approvals">approvals</a>.
        </p>
      ) : (
        <Table
          head={["Tool", "Does", "Tokens", "Calls in 30 days", "Asks you", "Agents see it"]}
          label={`Tools of ${label}`}
        >
          {fitting.slice(0, MOST_TOOLS).map((tool) => (
            <tr key={tool.op}>
              <td>
                <a data-row href={`#/servers/${encodeURIComponent(id)}/${encodeURIComponent(tool.name)}`}>
                  <code class="outside">{exact(tool.name)}</code>
                </a>
              </td>
              <td>
                <Lane lane={tool.lane} />
              </td>
              <td>{number(tool.tokens)}</td>
              <td>{number(figuresOf(tool.op)?.calls ?? 0)}</td>
              <td>
                <AskOfTool tool={tool} save={save} />
              </td>
              <td>{save && <HideTool name={tool.name} save={save} />}</td>
            </tr>
          ))}
        </Table>
      )}
      {fitting.length > MOST_TOOLS && (
        <p class="quiet small">
          The first {MOST_TOOLS} of {number(fitting.length)}; the filter finds the others.
        </p>
      )}
    </Card>
  );
}

const FOLLOW_MS = 2_000;

/** The last lines of stderr. They follow the server, and stay at the end while the reader is there. */
function Log({ id, label }: { id: string; label: string }) {
  const loaded = useApi<LogAnswer>(`/api/server/log?id=${encodeURIComponent(id)}`, ["sources"]);
  const [part, setPart] = useState("");
  const box = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || loaded.reload(), FOLLOW_MS);
    return () => clearInterval(timer);
  }, []);
  const all = loaded.value?.lines ?? [];
  const lines = all.filter((line) => line.toLowerCase().includes(part.toLowerCase()));
  useEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [lines.join("\n")]);
  const onScroll = ({
    currentTarget: { scrollTop, clientHeight, scrollHeight },
  }: {
    currentTarget: Element;
  }) => {
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 4;
  };
  return (
    <Card title="Log" aside={<FilterField label="Filter the log" value={part} onChange={setPart} />}>
      {all.length === 0 ? (
        <p class="quiet">It has written nothing to stderr.</p>
      ) : (
        <>
          <p class="quiet small">{times(lines.length, "line")}, the newest last</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <section class="text" aria-label={`Log of ${label}`} tabIndex={0} ref={box} onScroll={onScroll}>
            <pre class="outside">{lines.join("\n")}</pre>
          </section>
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
        It starts after your yes on the page of <a href="#/approvals">approvals</a>. A command can begin with
        variables: <code>TOKEN=${"{secret:name}"} npx …</code>.
      </p>
    </Card>
  );
}
