import type {
  Sandbox,
  ScriptAnswer,
  ScriptLimits,
  ScriptOutcome,
  ScriptRequest,
} from "../src/core/sandbox/sandbox.ts";

export const SCRIPT_LIMITS: ScriptLimits = {
  timeMs: 60_000,
  computeMs: 20_000,
  memoryBytes: 32 * 1024 * 1024,
  stackBytes: 256 * 1024,
  requests: 100,
  chars: 100_000,
};

export interface RunOptions {
  serve?: (request: ScriptRequest) => ScriptAnswer;
  limits?: Partial<ScriptLimits>;
  params?: string;
  signal?: AbortSignal;
}

export const echo = (request: ScriptRequest): ScriptAnswer => ({ ok: true, value: request });

/** Runs scripts in a sandbox, with a host that answers at once. */
export function createRunner(sandbox: Sandbox) {
  function run(code: string, options: RunOptions = {}): Promise<ScriptOutcome> {
    const { serve = echo, limits = {}, params = "null", signal = new AbortController().signal } = options;
    const host = {
      request: (request: ScriptRequest, _: number, answer: (answer: ScriptAnswer) => void) =>
        answer(serve(request)),
    };
    const script = { code, now: 86_400_000, seed: [1, 2, 3, 4], params } as const;
    return sandbox.run({ ...script, limits: { ...SCRIPT_LIMITS, ...limits } }, host, { signal, owner: "me" });
  }

  /** The value that a script returns. */
  async function returned(code: string, options?: RunOptions): Promise<unknown> {
    const { end } = await run(code, options);
    if (end.end !== "returned") throw new Error(JSON.stringify(end));
    return JSON.parse(end.json);
  }

  return { run, returned };
}
