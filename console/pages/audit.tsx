import { useEffect, useState } from "preact/hooks";
import type { AuditAnswer, AuditReport, ShownRecord } from "../../src/faces/http/endpoints/api-types.ts";
import { ask, get } from "../api.ts";
import { useApi } from "../live.ts";
import { Action, Badge, Card, Empty, Page, Shown, Table } from "../parts/basics.tsx";
import { number, times } from "../parts/format.ts";

const FIELDS = ["principal", "entry", "trace"] as const;
type Filter = Readonly<Partial<Record<(typeof FIELDS)[number] | "outcome", string>>>;

export function Audit({ rest }: { rest: string }) {
  const [filter, setFilter] = useState<Filter>(rest ? { trace: rest } : {});
  const [report, setReport] = useState<AuditReport>();
  useEffect(() => setFilter(rest ? { trace: rest } : {}), [rest]);
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
  const loaded = useApi<AuditAnswer>(`/api/audit?${query}`, ["calls", "approvals"]);

  async function save(): Promise<void> {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await (await ask(`/api/audit/export?${query}`)).blob());
    link.download = "keyhole-audit.jsonl";
    link.click();
    URL.revokeObjectURL(link.href);
  }

  return (
    <Page
      title="Audit"
      lead="Every call: its caller, the decision and the outcome. Never the values."
      actions={
        <>
          <Action run={async () => setReport(await get<AuditReport>("/api/audit/verify"))}>
            Verify the chain
          </Action>
          <Action run={save}>Export</Action>
        </>
      }
    >
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        {FIELDS.map((name) => (
          <label class="field" key={name}>
            <span>{name}</span>
            <input
              type="text"
              value={filter[name] ?? ""}
              onInput={(event) => setFilter({ ...filter, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <label class="field">
          <span>outcome</span>
          <select
            value={filter.outcome ?? ""}
            onChange={(event) => setFilter({ ...filter, outcome: event.currentTarget.value })}
          >
            <option value="">any</option>
            <option value="ok">ok</option>
            <option value="failed">failed</option>
          </select>
        </label>
      </form>
      {report && <Verified {...report} />}
      <Shown of={loaded}>
        {({ kept, records, damaged }) => (
          <Card>
            {damaged > 0 && <p class="problem">{times(damaged, "damaged record")}: verify the chain.</p>}
            {records.length === 0 ? (
              <Empty title={kept ? "No records fit" : "This gateway keeps no audit log"}>
                {kept
                  ? "Clear the filter, or let an agent call something."
                  : "The program keeps one by default. In code, give createGateway the option audit."}
              </Empty>
            ) : (
              <Table head={["When", "Who", "What", "Outcome", "Trace"]} label="Records of the audit log">
                {records.map((record) => (
                  <Row key={record.hash} record={record} onTrace={(trace) => setFilter({ trace })} />
                ))}
              </Table>
            )}
          </Card>
        )}
      </Shown>
    </Page>
  );
}

function Row({ record, onTrace }: { record: ShownRecord; onTrace: (trace: string) => void }) {
  const {
    at,
    actor,
    principal,
    kind,
    op,
    route,
    name,
    what,
    decided,
    approvedBy,
    outcome,
    ms,
    lane,
    traceId,
    args,
  } = record;
  const isBad = !["ok", "asks", undefined].includes(outcome) || kind === "call-refused";
  return (
    <tr>
      <td>
        <time dateTime={at} title={at}>
          {at.slice(5, 10)} {at.slice(11, 19)}
        </time>
      </td>
      <td>
        <bdi>{actor ?? "–"}</bdi>
        {actor !== principal && (
          <span class="quiet small">
            {" "}
            as <bdi>{principal}</bdi>
          </span>
        )}
      </td>
      <td>
        <span class="small quiet">{kind.replace("call-", "")} </span>
        <bdi class="outside mono">{op || route || [what, name].filter(Boolean).join(" ")}</bdi>
        {args && Object.keys(args).length > 0 && (
          <span class="quiet small outside">
            {" "}
            {Object.entries(args)
              .map(([arg, shape]) => `${arg}: ${shape}`)
              .join(", ")}
          </span>
        )}
      </td>
      <td>
        {outcome && <Badge tone={isBad ? "bad" : "good"}>{outcome}</Badge>}
        {decided && !outcome && <Badge tone={isBad ? "bad" : "plain"}>{decided}</Badge>}{" "}
        <span class="quiet small">
          {[lane, approvedBy && `by ${approvedBy}`, ms !== undefined && `${number(ms)} ms`]
            .filter(Boolean)
            .join(", ")}
        </span>
      </td>
      <td>
        {traceId && (
          <button
            type="button"
            class="link mono"
            onClick={() => onTrace(traceId)}
            aria-label={`Follow ${traceId}`}
          >
            {traceId.slice(0, 11)}
          </button>
        )}
      </td>
    </tr>
  );
}

function Verified({ chains }: AuditReport) {
  const bad = chains.filter((chain) => chain.bad);
  const count = chains.reduce((sum, { records }) => sum + records, 0);
  return (
    <div class={`banner ${bad.length === 0 ? "good" : "bad"}`} role="status">
      {bad.length === 0
        ? `Intact: ${times(count, "record")} in ${times(chains.length, "chain")}, each checked against its hash and its place.`
        : bad.map(({ name, bad: found }) => `${name}: ${found?.place} ${found?.reason}`).join("; ")}
    </div>
  );
}
