import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { systemClock } from "../../base/util/clock.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import {
  type Attributes,
  createHistograms,
  type FinishedSpan,
  type MetricName,
  toOtlpAttributes,
  toOtlpSpan,
} from "./otlp.ts";

/** Records spans and metrics. Never fails, waits or grows without bound. */
export interface Recorder {
  span(span: FinishedSpan): void;
  metric(name: MetricName, value: number, attributes: Attributes): void;
}

/** How the exporter fares. */
export interface ExporterStatus {
  readonly sent: number;
  readonly waiting: number;
  readonly dropped: number;
  /** Why the last attempt failed. */
  readonly failure?: string;
}

interface ExporterOptions {
  readonly resource: Attributes;
  readonly version: string;
  /** Posts JSON to a path of the collector, such as `/v1/traces`. Resolves to the status of the answer. */
  readonly post: (path: string, body: string, signal: AbortSignal) => Promise<number>;
  /** Removes secrets from everything that is sent. */
  readonly redact: <T>(value: T) => T;
}

const BATCH = 512;
/** Further spans are dropped. */
const MAX_WAITING = 4 * BATCH;
const INTERVAL_MS = 5_000;
const MAX_PAUSE_MS = 60_000;
const TIMEOUT_MS = 10_000;
const CLOSE_MS = 3_000;
const AGAIN = new Set([429, 502, 503, 504]);

/** Sends spans and metrics to a collector by OTLP over HTTP, in JSON. */
export function createOtlpExporter({ resource, version, post, redact }: ExporterOptions) {
  const about = { attributes: toOtlpAttributes(resource) };
  const scope = { name: "keyhole", version };
  const histograms = createHistograms(Date.now());
  let waiting: FinishedSpan[] = [];
  let sent = 0;
  let dropped = 0;
  let failures = 0;
  let failure: string | undefined;
  let isClosed = false;
  let callOff: (() => void) | undefined;
  let flushing: Promise<void> | undefined;
  const stopping = new AbortController();

  function schedule(): void {
    if (isClosed || callOff) return;
    callOff = systemClock.after(Math.min(INTERVAL_MS * 2 ** failures, MAX_PAUSE_MS), () => {
      callOff = undefined;
      void flush();
    });
  }

  function flush(): Promise<void> {
    flushing ??= sendAll().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      const resourceSpans = [{ resource: about, scopeSpans: [{ scope, spans: batch.map(toOtlpSpan) }] }];
      const outcome = await send("/v1/traces", { resourceSpans });
      if (outcome === "sent") sent += batch.length;
      if (outcome === "refused") dropped += batch.length;
      if (outcome === "later") {
        putBack(batch);
        return schedule();
      }
    }
    const metrics = histograms.take(Date.now());
    // Metrics are cumulative: values that do not arrive now are part of the next report.
    if (metrics)
      await send("/v1/metrics", {
        resourceMetrics: [{ resource: about, scopeMetrics: [{ scope, metrics }] }],
      });
  }

  async function send(path: string, content: object): Promise<"sent" | "refused" | "later"> {
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const status = await post(path, JSON.stringify(hideSecrets(redact(content))), signal);
      if (status >= 200 && status < 300) {
        failures = 0;
        failure = undefined;
        return "sent";
      }
      failure = `the collector answered ${status}`;
      if (!AGAIN.has(status)) return "refused";
    } catch (error) {
      failure = reasonOf(error);
    }
    failures = Math.min(failures + 1, 8);
    return "later";
  }

  function putBack(batch: readonly FinishedSpan[]): void {
    const all = [...batch, ...waiting];
    waiting = all.slice(0, MAX_WAITING);
    dropped += all.length - waiting.length;
  }

  const recorder: Recorder = {
    span: (span) => {
      if (isClosed || waiting.length >= MAX_WAITING) {
        dropped += 1;
        return;
      }
      waiting.push(span);
      if (waiting.length === BATCH && failures === 0) void flush();
      else schedule();
    },
    metric: (name, value, attributes) => {
      histograms.note(name, value, attributes);
      schedule();
    },
  };

  return {
    recorder,
    status: (): ExporterStatus => ({
      sent,
      waiting: waiting.length,
      dropped,
      ...(failure !== undefined && { failure }),
    }),
    /** Sends everything that waits. Never fails. */
    flush,
    /** Sends everything that waits, within CLOSE_MS. Later records are dropped. */
    close: async (): Promise<void> => {
      isClosed = true;
      callOff?.();
      const stop = systemClock.after(CLOSE_MS, () => stopping.abort(), true);
      await flushing;
      await flush();
      stop();
      stopping.abort();
      dropped += waiting.length;
      waiting = [];
    },
  };
}
