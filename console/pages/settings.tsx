import { useState } from "preact/hooks";
import type { SettingsAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { endSession, post } from "../api.ts";
import { useApi } from "../live.ts";
import { Action, Card, Empty, FilterField, Page, Shown, Table } from "../parts/basics.tsx";

export function Settings() {
  const loaded = useApi<SettingsAnswer>("/api/settings");
  const [link, setLink] = useState<string>();
  const [filter, setFilter] = useState("");
  return (
    <Page
      title="Settings"
      lead="Settings in effect, each with the file or variable that it comes from. Never secrets."
      actions={
        <>
          <Action run={async () => setLink((await post<{ url: string }>("/api/console/link")).url)}>
            Link for another browser
          </Action>
          <Action run={() => endSession().then(() => location.reload())}>Close this console</Action>
        </>
      }
    >
      {link && (
        <p class="banner" role="status">
          Opens once: <code class="outside">{link}</code>
        </p>
      )}
      <Shown of={loaded}>
        {({ settings, version, node }) => (
          <Card
            title="In effect"
            aside={<FilterField label="Filter settings" value={filter} onChange={setFilter} />}
          >
            {settings.length === 0 ? (
              <Empty title="No settings files">
                This gateway is configured in code. <code>keyhole serve</code> shows its settings here.
              </Empty>
            ) : (
              <Table head={["Setting", "Value", "From"]} label="Settings">
                {settings
                  .filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()))
                  .map(({ name, value, from }) => (
                    <tr key={name}>
                      <td>
                        <bdi class="mono">{name}</bdi>
                      </td>
                      <td class="outside mono">{JSON.stringify(value) ?? "–"}</td>
                      <td class="quiet small outside">{from}</td>
                    </tr>
                  ))}
              </Table>
            )}
            <p class="quiet small">
              Keyhole {version} on Node {node}
            </p>
          </Card>
        )}
      </Shown>
    </Page>
  );
}
