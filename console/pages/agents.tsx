import { useState } from "preact/hooks";
import type { AgentKey, AgentsAnswer } from "../../src/faces/http/endpoints/api-audit-types.ts";
import type { FiguresAnswer, PrincipalsAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { post } from "../api.ts";
import { useApi } from "../live.ts";
import { Action, Card, Page, Shown, Table } from "../parts/basics.tsx";
import { dated, number, times } from "../parts/format.ts";

/** The callers of this gateway with their rights, and the keys of those that call over HTTP. */
export function Agents() {
  const people = useApi<PrincipalsAnswer>("/api/principals", ["catalog"]);
  const keys = useApi<AgentsAnswer>("/api/agents", ["calls"]);
  const figures = useApi<FiguresAnswer>("/api/figures?days=30", ["calls"]);
  const reload = () => {
    keys.reload();
    people.reload();
  };
  return (
    <Page title="Agents" lead="Who calls this gateway, what each of them may do and see, and their keys.">
      <Shown of={people}>
        {({ principals }) => (
          <div class="stack">
            <Card title="Agents" aside={<span>{principals.length}</span>}>
              <Table
                head={["Agent", "May", "Profile", "Scopes", "Sees", "Calls in 30 days", "Key"]}
                label="Agents"
              >
                {principals.map(({ id, scopes, allowWrite, profile, entries, menu }) => (
                  <tr key={id}>
                    <td>
                      <bdi class="mono outside">{id}</bdi>
                    </td>
                    <td>{allowWrite ? "read and write" : "only read"}</td>
                    <td class="outside">{profile ?? "all servers"}</td>
                    <td>{scopes.join(", ") || "none"}</td>
                    <td>
                      {times(entries, "entry", "entries")}, a menu of {number(menu)} tokens
                    </td>
                    <td>{number(figures.value?.agents.find(({ name }) => name === id)?.calls ?? 0)}</td>
                    <td>
                      <Key agent={keys.value?.agents.find((one) => one.id === id)} reload={reload} />
                    </td>
                  </tr>
                ))}
              </Table>
            </Card>
            {keys.value?.kept && <NewKey reload={reload} />}
          </div>
        )}
      </Shown>
    </Page>
  );
}

function Key({ agent, reload }: { agent: AgentKey | undefined; reload: () => void }) {
  const [isSure, setSure] = useState(false);
  if (!agent) return <span class="quiet">none of its own</span>;
  const { name, createdAt, expiresAt } = agent;
  const revoke = () => post("/api/agents/revoke", { name }).finally(reload);
  return (
    <>
      <span class="small">
        made {dated(createdAt)}, {expiresAt === undefined ? "never ends" : `ends ${dated(expiresAt)}`}
      </span>{" "}
      {isSure ? (
        <Action kind="danger" run={revoke} label={`Revoke the key of ${name} now`}>
          Revoke it now
        </Action>
      ) : (
        <button
          type="button"
          class="button"
          onClick={() => setSure(true)}
          aria-label={`Revoke the key of ${name}`}
        >
          Revoke…
        </button>
      )}
    </>
  );
}

const FIELDS = {
  name: "Name",
  profile: "Profile, if not all servers",
  scopes: "Scopes, separated by commas",
  expires: "Ends (30d, or a date)",
};

function NewKey({ reload }: { reload: () => void }) {
  const empty = { name: "", profile: "", scopes: "", expires: "" };
  const [values, setValues] = useState<Readonly<Record<keyof typeof FIELDS, string>>>(empty);
  const [allowWrite, setWrite] = useState(false);
  const [made, setMade] = useState<{ name: string; key: string }>();
  const make = async () => {
    const { name, profile, expires } = values;
    const scopes = values.scopes.split(/[\s,]+/).filter((scope) => scope !== "");
    const { key } = await post<{ key: string }>("/api/agents", {
      ...{ name, scopes, allowWrite, expires },
      ...(profile !== "" && { profile }),
    });
    setMade({ name, key });
    setValues(empty);
    reload();
  };
  return (
    <Card title="A key for another agent">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        {(Object.keys(FIELDS) as (keyof typeof FIELDS)[]).map((field) => (
          <label class="field" key={field}>
            <span>{FIELDS[field]}</span>
            <input
              type="text"
              value={values[field]}
              onInput={(event) => setValues({ ...values, [field]: event.currentTarget.value })}
            />
          </label>
        ))}
      </form>
      <label class="check">
        <input
          type="checkbox"
          checked={allowWrite}
          onChange={(event) => setWrite(event.currentTarget.checked)}
        />{" "}
        It may run tools that write
      </label>
      <Action kind="main" run={make}>
        Make the key
      </Action>
      {made && (
        <p class="banner" role="status">
          Key of {made.name}, shown once: <code class="outside">{made.key}</code>
        </p>
      )}
      <p class="quiet small">
        It calls over HTTP (<code>keyhole serve --http</code>), and sees only tools whose scopes it has.
      </p>
    </Card>
  );
}
