import { toGuidedResult } from "../guidance/resolve-guidance.ts";
import { hideSecrets } from "../net/known-secrets.ts";
import type { CallContext, Entry } from "../schema/entry.ts";
import { problem } from "../schema/problem.ts";
import { addressOf } from "../util/address-of.ts";
import { toJson } from "../util/to-json.ts";
import { type CallEnvironment, conversationOf } from "./call-environment.ts";
import type { EntryRun } from "./entry-run.ts";
import { findWithin } from "./find-within.ts";
import { guidanceSteps } from "./guidance-steps.ts";
import { isToolFailure } from "./is-tool-failure.ts";
import { type RunOptions, rememberFailure, rememberRun } from "./remember-run.ts";
import { withDeadline } from "./with-deadline.ts";

/** Runs an entry with checked params within its deadline and records it in the session. Throws problems only. */
export async function runEntry(
  entry: Entry,
  environment: CallEnvironment,
  call: (context: CallContext) => Promise<unknown>,
  options: RunOptions,
): Promise<EntryRun> {
  const { discovery, learning, shapes } = environment.services;
  const noted = { ...conversationOf(environment), route: entry.route };
  try {
    const ran = await run(entry, environment, call);
    discovery.used(noted.conversation, entry.route);
    learning?.note({ kind: "used", ...noted });
    if (!options.dry) shapes.note(environment.view, entry, ran.value);
    rememberRun(entry, environment, ran, options);
    return ran;
  } catch (error) {
    if (isToolFailure(error)) learning?.note({ kind: "failed", ...noted });
    if (!options.dry) rememberFailure(entry, environment);
    throw error;
  }
}

async function run(
  entry: Entry,
  environment: CallEnvironment,
  call: (context: CallContext) => Promise<unknown>,
): Promise<EntryRun> {
  const { view, session, request, runScript } = environment;
  const name = addressOf(entry);
  const ms = (entry.kind === "tool" && entry.timeoutMs) || environment.callMs;
  let showUpTo: number | undefined;
  const returned = await withDeadline({ ms, signal: request.signal, name }, (signal) => {
    const context: { -readonly [K in keyof CallContext]: CallContext[K] } = {
      principal: view.principal,
      get signal() {
        return signal();
      },
      traceId: request.traceId,
      find: (wanted) => findWithin(environment, wanted),
      showUpTo: (tokens) => {
        showUpTo = tokens;
      },
    };
    if (session) context.session = session.handle;
    if (request.client) context.client = request.client;
    if (request.trace) context.trace = request.trace;
    if (runScript) context.runScript = (script) => runScript(script, signal());
    return call(context);
  });
  const { content, guidance } = toGuidedResult(returned, entry.presentation?.outputSchema !== undefined);
  const json = toJson(content);
  if (!json.ok) throw problem("RESULT_INVALID", { name, reason: json.reason });
  const ran = {
    value: hideSecrets(json.value),
    guidance: guidanceSteps(entry, guidance, environment),
    warnings: json.warnings,
  };
  return showUpTo === undefined ? ran : { ...ran, showUpTo };
}
