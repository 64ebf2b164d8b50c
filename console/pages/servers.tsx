import type { UpstreamsAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { attempt } from "../api.ts";
import { useApi } from "../live.ts";
import { Action, Badge, Card, Empty, Page, Shown, Table } from "../parts/basics.tsx";
import { number, times } from "../parts/format.ts";
import { AddServer, OneServer } from "./server.tsx";
import { State } from "./server-card.tsx";
import { OneTool } from "./tool.tsx";
import { change } from "./use-server.ts";

export function Servers({ rest, part }: { rest: string; part: string }) {
  if (rest === "") return <AllServers />;
  return part === "" ? <OneServer id={rest} /> : <OneTool id={rest} name={part} />;
}

/** The states of all servers at once. */
function AllServers() {
  const loaded = useApi<UpstreamsAnswer>("/api/upstreams", ["sources", "catalog", "calls"]);
  return (
    <Page
      title="Servers"
      lead="MCP servers behind this gateway. Each runs separately, so a failure affects no other server."
    >
      <Shown of={loaded}>
        {({ upstreams, off: switchedOff }) => {
          const off = switchedOff ?? [];
          return (
            <div class="stack">
              <Card aside={<span>{times(upstreams.length, "server")}</span>} title="All servers">
                {upstreams.length + off.length === 0 ? (
                  <Empty title="No servers">
                    Add one with <code>keyhole add NAME -- COMMAND</code>, or serve the config of an MCP
                    client with <code>--config mcp.json</code>.
                  </Empty>
                ) : (
                  <Table head={["Server", "State", "Tools", "Tokens", "To do"]} label="Servers">
                    {upstreams
                      .filter(({ label }) => !off.includes(label))
                      .map((server) => (
                        <Row key={server.id} server={server} reload={loaded.reload} />
                      ))}
                    {off.map((server) => (
                      <tr key={server}>
                        <td>
                          <bdi>{server}</bdi>
                        </td>
                        <td>
                          <Badge>off</Badge> <span class="quiet small">nobody can use it</span>
                        </td>
                        <td>–</td>
                        <td>–</td>
                        <td>
                          <Action
                            run={() => change(server, { disabled: false })}
                            label={`Switch on ${server}`}
                          >
                            Switch on
                          </Action>
                        </td>
                      </tr>
                    ))}
                  </Table>
                )}
              </Card>
              {switchedOff && <AddServer reload={loaded.reload} />}
            </div>
          );
        }}
      </Shown>
    </Page>
  );
}

function Row({ server, reload }: { server: UpstreamsAnswer["upstreams"][number]; reload: () => void }) {
  const { id, label, state, reason, tools, tokens, needsConsent, unapproved, isUpstream } = server;
  return (
    <tr>
      <td>
        <a data-row href={`#/servers/${encodeURIComponent(id)}`}>
          <bdi>{label}</bdi>
        </a>
      </td>
      <td>
        <State state={state} />
        {reason && !needsConsent && <p class="problem small outside">{reason}</p>}
        {unapproved > 0 && (
          <p class="small">{times(unapproved, "definition waits", "definitions wait")} for your yes</p>
        )}
      </td>
      <td>{number(tools)}</td>
      <td>{number(tokens)}</td>
      <td>
        {needsConsent || unapproved > 0 ? (
          <a class="button main" href="#/approvals">
            Look and decide
          </a>
        ) : (
          isUpstream && (
            <Action
              run={() => attempt("/api/upstreams/restart", { id }).finally(reload)}
              label={`Restart ${label}`}
            >
              Restart
            </Action>
          )
        )}
      </td>
    </tr>
  );
}
