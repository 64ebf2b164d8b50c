import type { Gateway } from "../../gateway/gateway-api.ts";
import type { CallRecorder } from "./endpoints/recorder.ts";

interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly samples: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];
}

/** Writes the figures of a gateway in the text format of Prometheus. They name no entry, caller or server. */
export async function toMetrics(gateway: Gateway, recorder: CallRecorder): Promise<string> {
  const counts = recorder.counts();
  const { answers, menus, everything } = recorder.series.totals();
  const { searches, found, ledToCall } = gateway.discovery();
  const sources = await gateway.sources.status();
  const fresh = sources.filter(({ isFresh }) => isFresh).length;
  const metrics: Metric[] = [
    {
      name: "keyhole_operations_total",
      type: "counter",
      help: "Finished operations by outcome.",
      samples: counts.map(({ operation, outcome, calls }) => [{ operation, outcome }, calls]),
    },
    {
      name: "keyhole_operation_seconds_total",
      type: "counter",
      help: "Time spent in operations.",
      samples: counts.map(({ operation, outcome, seconds }) => [{ operation, outcome }, seconds]),
    },
    {
      name: "keyhole_tokens_total",
      type: "counter",
      help: "Tokens put into contexts.",
      samples: [
        [{ cause: "answers" }, answers],
        [{ cause: "menus" }, menus],
      ],
    },
    one(
      "keyhole_listing_tokens_total",
      "Tokens that listing every tool instead would have cost.",
      everything,
    ),
    one("keyhole_searches_total", "Needs that were searched for.", searches),
    one("keyhole_searches_found_total", "Searches that found something.", found),
    one("keyhole_searches_used_total", "Searches that led to a call.", ledToCall),
    {
      name: "keyhole_sources",
      type: "gauge",
      help: "Sources by the state of their content.",
      samples: [
        [{ state: "fresh" }, fresh],
        [{ state: "not_fresh" }, sources.length - fresh],
      ],
    },
    {
      name: "process_start_time_seconds",
      type: "gauge",
      help: "When the gateway started.",
      samples: [[{}, recorder.startedAt / 1000]],
    },
  ];
  return metrics.map(toText).join("");
}

function one(name: string, help: string, value: number): Metric {
  return { name, type: "counter", help, samples: [[{}, value]] };
}

function toText({ name, type, help, samples }: Metric): string {
  const lines = samples.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}`;
  });
  return `${[`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join("\n")}\n`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
