import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
} from "@modelcontextprotocol/server";
import type { FaceOptions } from "../gateway-core.ts";
import type { CallingClient } from "../schema/entry.ts";
import type { Principal } from "../schema/principal.ts";
import type { CallTrace } from "../schema/span-context.ts";
import { limitsOf, readsBytes } from "./client-limits.ts";
import type { Incoming } from "./incoming.ts";
import type { RoundState } from "./rounds.ts";

/** One request of a client, as the tools behind it see it. */
export interface Round {
  readonly principal: Principal;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly state?: RoundState;
  /** Whether the client can put a question to its user. */
  readonly canAsk: boolean;
  /** The name that the client gives of itself. */
  readonly client: string | undefined;
  /** The request asks for structured content. */
  readonly structured: boolean;
  /** The client would show a model the bytes of pictures as text. */
  readonly readsBytes: boolean;
  readonly options: FaceOptions;
}

/** Programs set this in the `_meta` of a call to get structured content beside the text. */
const STRUCTURED_META_KEY = "keyhole/structured";

type ClientCapabilities = Readonly<Record<string, unknown>> & {
  readonly elicitation?: { readonly form?: unknown; readonly url?: unknown };
};

/** Facts about the client that its connection knows; a request may have its own. */
export interface KnownClient {
  readonly capabilities?: ClientCapabilities | undefined;
  /** The name that the client gives of itself. */
  readonly client?: string | undefined;
  readonly session?: string | undefined;
}

export function toRound(
  incoming: Incoming,
  principal: Principal,
  connection: KnownClient,
  progress: CallingClient["progress"],
  trace?: CallTrace,
): Round {
  const state = incoming.requestState<RoundState>();
  const envelope = incoming.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const capabilities = declared ?? connection.capabilities ?? {};
  const info = envelope?.[CLIENT_INFO_META_KEY] as { readonly name?: string } | undefined;
  const client = info?.name ?? connection.client;
  return {
    principal,
    client,
    responses: incoming.inputResponses ?? {},
    ...(state && { state }),
    canAsk: takesForms(capabilities),
    structured: incoming._meta?.[STRUCTURED_META_KEY] === true,
    readsBytes: readsBytes(client),
    options: {
      principal,
      signal: incoming.signal,
      ...(connection.session && { session: connection.session }),
      client: toClient(incoming, capabilities, state, progress),
      limits: limitsOf(client),
      ...(state?.kind === "approval" && state.resume && { resume: state.resume }),
      ...(trace && { trace }),
    },
  };
}

/** A client that names no mode predates modes, when every form was allowed. */
function takesForms({ elicitation }: ClientCapabilities): boolean {
  if (!elicitation) return false;
  return elicitation.form !== undefined || elicitation.url === undefined;
}

function toClient(
  incoming: Incoming,
  capabilities: ClientCapabilities,
  state: RoundState | undefined,
  progress: CallingClient["progress"],
): CallingClient {
  return {
    capabilities,
    responses: incoming.inputResponses ?? {},
    ...(state?.kind === "tool" && { state: state.state }),
    progress,
    // A client of the older protocol listens to everything until it sets a level, which only the SDK knows.
    logLevel: incoming.envelope ? logLevelIn(incoming.envelope) : "debug",
    // It only informs: a client that has gone away must not fail the call.
    log: (level, data, logger) => void incoming.log(level, data, logger).catch(() => {}),
  };
}

function logLevelIn(envelope: NonNullable<Incoming["envelope"]>): CallingClient["logLevel"] {
  return (envelope as { readonly [LOG_LEVEL_META_KEY]?: CallingClient["logLevel"] })[LOG_LEVEL_META_KEY];
}
