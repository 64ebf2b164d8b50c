import type { FinishedCall } from "../../gateway-core.ts";
import { hideSecrets } from "../../net/known-secrets.ts";
import { cutText } from "../../util/cut-text.ts";
import { replaceSecrets } from "../../util/secret-patterns.ts";
import type { Step } from "./answers.ts";

const QUERY_CHARS = 200;
const MOST_ROUTES = 20;
const SECRET = "[secret]";

interface Answered {
  readonly queries?: readonly string[];
  readonly hits?: readonly { readonly route: string; readonly entryPoint?: true }[];
  readonly guidance?: readonly { readonly route: string }[];
  readonly results?: readonly { readonly data?: Answered; readonly exec?: Answered }[];
  readonly dry_run?: boolean;
  readonly meta?: { readonly dry_run?: boolean };
}

export function toStep(call: FinishedCall): Step {
  const answer = call.answer as Answered;
  const parts = [answer, ...(answer.results ?? []).flatMap(({ data, exec }) => [data ?? {}, exec ?? {}])];
  const found = (answer.hits ?? []).filter(({ entryPoint }) => !entryPoint);
  return {
    at: call.startedAt,
    operation: call.operation,
    queries: (answer.queries ?? []).map((query) =>
      cutText(replaceSecrets(hideSecrets(query), SECRET), QUERY_CHARS),
    ),
    targets: call.targets.slice(0, MOST_ROUTES),
    found: found.slice(0, MOST_ROUTES).map(({ route }) => route),
    unveiled: parts
      .flatMap(({ guidance = [] }) => guidance)
      .slice(0, MOST_ROUTES)
      .map(({ route }) => route),
    dryRun: parts.some(({ dry_run, meta }) => dry_run === true || meta?.dry_run === true),
    outcome: call.outcome,
    tokens: call.tokens,
    latencyMs: Math.round(call.latencyMs),
    traceId: call.traceId,
  };
}
