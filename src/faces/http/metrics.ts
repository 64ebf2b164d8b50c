import type { PeopleUsage } from "../../core/access/usage.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { UsagePrices } from "./endpoints/api-types.ts";
import type { CallRecorder } from "./endpoints/recorder.ts";
import { costOf } from "./endpoints/usage.ts";

type Sample = readonly [value: number, labels?: Readonly<Record<string, string>>];

/** Writes the figures of a gateway in the text format of Prometheus. They name no entry, caller or server. */
export async function toMetrics(gateway: Gateway, recorder: CallRecorder): Promise<string> {
  const counts = recorder.counts();
  const { discovery, results, menus, everything } = await recorder.series.totals();
  const { searches, found, ledToCall } = (await gateway.report()).discovery;
  const sources = await gateway.sources.status();
  const fresh = sources.filter(({ isFresh }) => isFresh).length;
  const byOutcome = (figure: "calls" | "seconds") =>
    counts.map(({ operation, outcome, ...figures }): Sample => [figures[figure], { operation, outcome }]);
  const tokens: Sample[] = [
    [discovery, { cause: "discovery" }],
    [results, { cause: "results" }],
    [menus, { cause: "menus" }],
  ];
  const states: Sample[] = [
    [fresh, { state: "fresh" }],
    [sources.length - fresh, { state: "not_fresh" }],
  ];
  return [
    toText("counter", "keyhole_operations_total", "Finished operations by outcome.", byOutcome("calls")),
    toText("counter", "keyhole_operation_seconds_total", "Time spent in operations.", byOutcome("seconds")),
    toText("counter", "keyhole_tokens_total", "Tokens put into contexts.", tokens),
    toText(
      "counter",
      "keyhole_listing_tokens_total",
      "Tokens that listing every tool instead would have cost.",
      [[everything]],
    ),
    toText("counter", "keyhole_searches_total", "Needs that were searched for.", [[searches]]),
    toText("counter", "keyhole_searches_found_total", "Searches that found something.", [[found]]),
    toText("counter", "keyhole_searches_used_total", "Searches that led to a call.", [[ledToCall]]),
    toText("gauge", "keyhole_sources", "Sources by the state of their content.", states),
    toText("gauge", "process_start_time_seconds", "When the gateway started.", [[recorder.startedAt / 1000]]),
  ].join("");
}

/** Writes what people of this process used. It names them, so it is for those who run the gateway. */
export function toUsageMetrics(usage: PeopleUsage | undefined, prices: UsagePrices | undefined): string {
  const rows = usage?.own() ?? [];
  const counter = (name: string, help: string, figure: (row: (typeof rows)[number]) => number) =>
    toText(
      "counter",
      `keyhole_usage_${name}_total`,
      help,
      rows.map((row) => [figure(row), { person: row.person, server: row.server, tool: row.op }]),
    );
  return [
    counter("calls", "Calls.", ({ calls }) => calls),
    counter("failed", "Failed calls.", ({ failed }) => failed),
    counter("tokens", "Tokens of answers.", ({ tokens }) => tokens),
    prices ? counter("cost", "Money.", (row) => costOf(row, prices)) : "",
  ].join("");
}

function toText(type: string, name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([value, labels = {}]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}`;
  });
  return `${[`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join("\n")}\n`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
