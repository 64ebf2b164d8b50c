import type { ExporterStatus, Recorder } from "./otlp-exporter.ts";

/** Options of {@link startTelemetry}. */
export interface TelemetryOptions {
  /** Default: false. Nothing is loaded or sent. */
  readonly enabled?: boolean;
  /** Address of an OTLP collector over HTTP, without `/v1/traces`. Default: `http://localhost:4318`. */
  readonly endpoint?: string;
  /** Headers of every request to the collector. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Name of the service. Default: `keyhole`. */
  readonly service?: string;
  readonly version?: string;
  /** Texts removed from everything sent. */
  readonly secrets?: readonly string[];
}

/** Running telemetry. */
export interface Telemetry {
  /** Records spans and metrics, including those of an agent. */
  readonly recorder: Recorder;
  status(): ExporterStatus;
  flush(): Promise<void>;
  /** Stops listening and sends what remains. Never throws. */
  close(): Promise<void>;
}

const ENDPOINT = "http://localhost:4318";

/**
 * Sends traces and metrics of this process to an OpenTelemetry collector, if enabled. See {@link onEvent}.
 * @example
 * ```ts no-run
 * import { startTelemetry } from "keyhole";
 *
 * const telemetry = await startTelemetry({ enabled: true, endpoint: "http://localhost:4318" });
 * process.once("beforeExit", () => telemetry?.close());
 * ```
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry | undefined> {
  if (options.enabled !== true) return undefined;
  const { endpoint = ENDPOINT, headers = {}, service = "keyhole", version = "0", secrets = [] } = options;
  const [{ OtlpExporter }, { recordEvents }, { createGuardedFetch }, { createRedact }] = await Promise.all([
    import("./otlp-exporter.ts"),
    import("./record-events.ts"),
    import("../../base/net/guarded-fetch.ts"),
    import("../../base/safety/redact.ts"),
  ]);
  // The collector usually runs on the same machine. An unreadable endpoint fails when it is used.
  const guarded = createGuardedFetch(URL.canParse(endpoint) ? { ownUrl: endpoint } : {});
  const collector = endpoint.replace(/\/$/, "");
  const recorder = new OtlpExporter({
    resource: {
      "service.name": service,
      "service.version": version,
      "telemetry.sdk.name": "keyhole",
      "telemetry.sdk.language": "nodejs",
    },
    version,
    redact: createRedact([...secrets, ...Object.values(headers)]),
    post: async (path, body, signal) => {
      const sent = { ...headers, "content-type": "application/json" };
      const response = await guarded(collector + path, { method: "POST", headers: sent, body, signal });
      await response.body?.cancel();
      return response.status;
    },
  });
  const stop = recordEvents(recorder);
  return {
    recorder,
    status: () => recorder.status(),
    flush: () => recorder.flush(),
    close: async () => {
      stop();
      await recorder.close();
      await guarded.close();
    },
  };
}
