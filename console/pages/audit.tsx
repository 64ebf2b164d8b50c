import { useEffect, useState } from "preact/hooks";
import type { Lane } from "../../src/core/nouns/entry.ts";
import type {
  AuditAnswer,
  AuditReport,
  ShownRecord,
} from "../../src/faces/http/endpoints/api-audit-types.ts";
import { ask, get } from "../api.ts";
import { useApi } from "../live.ts";
import { Action, Badge, Card, DOES, Empty, Page, Shown, Table } from "../parts/basics.tsx";
import { dated, number, times } from "../parts/format.ts";

const FIELDS = {
  principal: "Agent",
  server: "Server",
  entry: "Part of a tool's name",
  trace: "Trace of a request",
} as const;
const OUTCOMES = { ok: "ran", failed: "failed or refused", "dry-run": "dry run", asked: "asked a person" };
type Filter = Readonly<Partial<Record<keyof typeof FIELDS | "outcome" | "before", string>>>;

export function Audit({ rest }: { rest: string }) {
  const [filter, setFilter] = useState<Filter>(() => fromQuery(rest));
  const [report, setReport] = useState<AuditReport>();
  useEffect(() => setFilter(fromQuery(rest)), [rest]);
  const { before, ...chosen } = filter;
  const query = toQuery(chosen);
  // The address leads back to the filter, without an entry in the history for each letter.
  useEffect(
    () => history.replaceState(null, "", `#/audit/${encodeURIComponent(toQuery(filter))}`),
    [toQuery(filter)],
  );
  // Only the newest page changes by calls.
  const loaded = useApi<AuditAnswer>(`/api/audit?${toQuery(filter)}`, before ? [] : ["calls", "approvals"]);

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
        {(Object.keys(FIELDS) as (keyof typeof FIELDS)[]).map((name) => (
          <label class="field" key={name}>
            <span>{FIELDS[name]}</span>
            <input
              type="text"
              placeholder={name === "principal" || name === "server" ? "its whole name" : ""}
              value={filter[name] ?? ""}
              onInput={(event) => setFilter({ ...chosen, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <label class="field">
          <span>Outcome</span>
          <select
            value={filter.outcome ?? ""}
            onChange={(event) => setFilter({ ...chosen, outcome: event.currentTarget.value })}
          >
            <option value="">any</option>
            {Object.entries(OUTCOMES).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Before</span>
          <input
            type="datetime-local"
            onInput={({ currentTarget: { value } }) =>
              setFilter(value ? { ...chosen, before: new Date(value).toISOString() } : chosen)
            }
          />
        </label>
      </form>
      {report && <Verified {...report} />}
      <Shown of={loaded}>
        {({ kept, records, damaged, older }) => (
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
            <div class="actions">
              {before && (
                <button type="button" class="button" onClick={() => setFilter(chosen)}>
                  Newest
                </button>
              )}
              {older && (
                <button type="button" class="button" onClick={() => setFilter({ ...chosen, before: older })}>
                  Older
                </button>
              )}
            </div>
          </Card>
        )}
      </Shown>
    </Page>
  );
}

function fromQuery(query: string): Filter {
  return Object.fromEntries(new URLSearchParams(query));
}

function toQuery(filter: Filter): string {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
}

/** Kinds of records, in words for people. A call that ended needs none. */
const KINDS: Readonly<Record<string, string>> = {
  call: "",
  "call-started": "not ended",
  "call-refused": "refused",
  "call-asked": "asks a person about",
  "call-repeated": "answered again",
  "log-opened": "a new log begins",
};

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
  const isDry = decided === "dry-run";
  return (
    <tr>
      <td>
        <time dateTime={at} title={at}>
          {dated(at)}
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
        <span class="small quiet">{KINDS[kind] ?? kind} </span>
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
        {isDry && <Badge>dry run, nothing changed</Badge>}
        {outcome && !(isDry && outcome === "ok") && <Badge tone={isBad ? "bad" : "good"}>{outcome}</Badge>}
        {decided && !outcome && !isDry && <Badge tone={isBad ? "bad" : "plain"}>{decided}</Badge>}{" "}
        <span class="quiet small">
          {[
            lane && (DOES[lane as Lane] ?? lane),
            approvedBy && `by ${approvedBy}`,
            ms !== undefined && `${number(ms)} ms`,
          ]
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
