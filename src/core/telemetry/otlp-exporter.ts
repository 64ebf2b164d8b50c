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

/** Records spans and metrics. Never fails, never waits, and uses bounded memory. */
export interface Recorder {
  span(span: FinishedSpan): void;
  metric(name: MetricName, value: number, attributes: Attributes): void;
}

/** State of the exporter. */
export interface ExporterStatus {
  readonly sent: number;
  readonly waiting: number;
  readonly dropped: number;
  /** Reason of the last failed attempt. */
  readonly failure?: string;
}

interface ExporterOptions {
  readonly resource: Attributes;
  readonly version: string;
  /** Posts JSON to a path of the collector, such as `/v1/traces`. Resolves to the HTTP status. */
  readonly post: (path: string, body: string, signal: AbortSignal) => Promise<number>;
  /** Removes secrets from everything sent. */
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

/** Sends spans and metrics to a collector: OTLP over HTTP, in JSON. */
export class OtlpExporter implements Recorder {
  private readonly options: ExporterOptions;
  private readonly histograms = createHistograms(Date.now());
  private readonly stopping = new AbortController();
  private waiting: FinishedSpan[] = [];
  private sent = 0;
  private dropped = 0;
  private failures = 0;
  private failure: string | undefined;
  private isClosed = false;
  private callOff: (() => void) | undefined;
  private flushing: Promise<void> | undefined;

  constructor(options: ExporterOptions) {
    this.options = options;
  }

  span(span: FinishedSpan): void {
    if (this.isClosed || this.waiting.length >= MAX_WAITING) {
      this.dropped += 1;
      return;
    }
    this.waiting.push(span);
    if (this.waiting.length === BATCH && this.failures === 0) void this.flush();
    else this.schedule();
  }

  metric(name: MetricName, value: number, attributes: Attributes): void {
    this.histograms.note(name, value, attributes);
    this.schedule();
  }

  status(): ExporterStatus {
    const { sent, waiting, dropped, failure } = this;
    return { sent, waiting: waiting.length, dropped, ...(failure !== undefined && { failure }) };
  }

  /** Sends everything queued. Never fails. */
  flush(): Promise<void> {
    this.flushing ??= this.sendAll().finally(() => {
      this.flushing = undefined;
    });
    return this.flushing;
  }

  /** Sends everything queued, within CLOSE_MS. Drops later records. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.callOff?.();
    const stop = systemClock.after(CLOSE_MS, () => this.stopping.abort(), true);
    await this.flushing;
    await this.flush();
    stop();
    this.stopping.abort();
    this.dropped += this.waiting.length;
    this.waiting = [];
  }

  private schedule(): void {
    if (this.isClosed || this.callOff) return;
    this.callOff = systemClock.after(Math.min(INTERVAL_MS * 2 ** this.failures, MAX_PAUSE_MS), () => {
      this.callOff = undefined;
      void this.flush();
    });
  }

  private async sendAll(): Promise<void> {
    const resource = { attributes: toOtlpAttributes(this.options.resource) };
    const scope = { name: "keyhole", version: this.options.version };
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, BATCH);
      this.waiting = this.waiting.slice(BATCH);
      const resourceSpans = [{ resource, scopeSpans: [{ scope, spans: batch.map(toOtlpSpan) }] }];
      const outcome = await this.send("/v1/traces", { resourceSpans });
      if (outcome === "sent") this.sent += batch.length;
      if (outcome === "refused") this.dropped += batch.length;
      if (outcome === "later") {
        this.putBack(batch);
        return this.schedule();
      }
    }
    const metrics = this.histograms.take(Date.now());
    // Metrics are cumulative: the next report includes values that do not arrive now.
    if (metrics)
      await this.send("/v1/metrics", { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] });
  }

  private async send(path: string, content: object): Promise<"sent" | "refused" | "later"> {
    const { post, redact } = this.options;
    try {
      const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const status = await post(path, JSON.stringify(hideSecrets(redact(content))), signal);
      if (status >= 200 && status < 300) {
        this.failures = 0;
        this.failure = undefined;
        return "sent";
      }
      this.failure = `the collector answered ${status}`;
      if (!AGAIN.has(status)) return "refused";
    } catch (error) {
      this.failure = reasonOf(error);
    }
    this.failures = Math.min(this.failures + 1, 8);
    return "later";
  }

  private putBack(batch: readonly FinishedSpan[]): void {
    const all = [...batch, ...this.waiting];
    this.waiting = all.slice(0, MAX_WAITING);
    this.dropped += all.length - this.waiting.length;
  }
}
