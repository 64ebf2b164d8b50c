import type { UpstreamsAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { useApi } from "../live.ts";
import { Action, Badge, Card, Empty, Page, Shown } from "../parts/basics.tsx";
import { AddServer, change, OneServer } from "./server.tsx";
import { Server } from "./server-card.tsx";

export function Servers({ rest }: { rest: string }) {
  return rest === "" ? <AllServers /> : <OneServer id={rest} />;
}

function AllServers() {
  const loaded = useApi<UpstreamsAnswer>("/api/upstreams", ["sources", "catalog", "calls"]);
  return (
    <Page
      title="Servers"
      lead="MCP servers behind this gateway. Each runs separately, so a failure affects no other server."
    >
      <Shown of={loaded}>
        {({ upstreams, off }) => (
          <div class="stack">
            {upstreams.length === 0 && (
              <Card>
                <Empty title="No servers">
                  Add one with <code>keyhole add NAME -- COMMAND</code>, or serve the config of an MCP client
                  with <code>--config mcp.json</code>.
                </Empty>
              </Card>
            )}
            {upstreams
              .filter(({ label }) => !off?.includes(label))
              .map((upstream) => (
                <Server key={upstream.id} {...upstream} reload={loaded.reload} />
              ))}
            {off?.map((server) => (
              <Card
                key={server}
                title={
                  <>
                    <bdi>{server}</bdi> <Badge>off</Badge>
                  </>
                }
                aside={
                  <Action run={() => change(server, { disabled: false })} label={`Switch on ${server}`}>
                    Switch on
                  </Action>
                }
              >
                <p class="quiet">Nobody can use it, and it does not run.</p>
              </Card>
            ))}
            {off && <AddServer reload={loaded.reload} />}
          </div>
        )}
      </Shown>
    </Page>
  );
}
