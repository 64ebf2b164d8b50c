import type { KnowledgeAnswer } from "../../src/faces/http/endpoints/api-types.ts";
import { post } from "../api.ts";
import { useApi } from "../live.ts";
import { Action, Badge, Card, Empty, Page, Shown, Table } from "../parts/basics.tsx";
import { age, ago, number, times } from "../parts/format.ts";

export function Documents() {
  const loaded = useApi<KnowledgeAnswer>("/api/knowledge", ["sources", "catalog"]);
  const refresh = (id: string) => async () => {
    const { ok, reason } = await post<{ ok: boolean; reason?: string }>("/api/knowledge/refresh", { id });
    loaded.reload();
    if (!ok) throw new Error(reason ?? "It could not be read.");
  };
  return (
    <Page
      title="Documents"
      lead="Documents, skills, prompts and APIs: where they come from, and how fresh they are."
    >
      <Shown of={loaded}>
        {({ sources, domains }) => (
          <>
            <Card title="Sources" aside={<span>{sources.length}</span>}>
              {sources.length === 0 ? (
                <Empty title="No sources of documents">
                  Add a folder of Markdown, an OpenAPI document or a content pipeline to the config.
                </Empty>
              ) : (
                <Table head={["Source", "Content", "Oldest", "Stays fresh", "Read again"]} label="Sources">
                  {sources.map((source) => (
                    <tr key={source.id}>
                      <td>
                        <bdi class="mono">{source.id}</bdi>{" "}
                        {source.lastError && <p class="problem outside">{source.lastError}</p>}
                        {source.ttlMs !== 0 && (
                          <Badge tone={source.isFresh ? "good" : "warn"}>
                            {source.isFresh ? "fresh" : "stale"}
                          </Badge>
                        )}
                      </td>
                      <td>{number(source.count)}</td>
                      <td>{ago(source.oldest)}</td>
                      <td>{freshFor(source.ttlMs)}</td>
                      <td>
                        <Action run={refresh(source.id)} label={`Refresh ${source.id}`}>
                          Refresh
                        </Action>
                      </td>
                    </tr>
                  ))}
                </Table>
              )}
            </Card>
            <Card title="All content, by server" aside={<span>{domains.length}</span>}>
              {domains.length === 0 ? (
                <Empty title="The catalog is empty">Add a domain, a server or a source to the config.</Empty>
              ) : (
                <Table head={["Server", "Offers", "About"]} label="All content">
                  {domains.map(({ name, description, entries }) => (
                    <tr key={name}>
                      <td>
                        <bdi class="mono">{name}</bdi>
                      </td>
                      <td class="nowrap">
                        {Object.entries(entries)
                          .map(([kind, count]) => times(count, kind))
                          .join(", ")}
                      </td>
                      <td class="outside">{description}</td>
                    </tr>
                  ))}
                </Table>
              )}
            </Card>
          </>
        )}
      </Shown>
    </Page>
  );
}

function freshFor(ttlMs: number | undefined): string {
  if (ttlMs === undefined) return "until it changes";
  return ttlMs === 0 ? "read when it changes, or on request" : age(0, ttlMs);
}
