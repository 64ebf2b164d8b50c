import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";

/** The envelopes of requests that the SDK has accepted. An equal one needs no second check. */
export interface Envelopes {
  /** The SDK has accepted a request with this envelope. */
  accept(envelope: unknown): void;
  /** Whether the metadata of a request has an accepted envelope. */
  has(meta: Meta): boolean;
}

export type Meta = Readonly<Record<string, unknown>>;

const KEYS = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY];
const MAX_ENVELOPES = 256;
const MAX_CHARS = 4_096;

export function createEnvelopes(): Envelopes {
  const known = new Set<string>();
  return {
    accept: (envelope) => {
      const text = textOf(envelope as Meta | undefined);
      if (text === undefined || text.length > MAX_CHARS) return;
      known.add(text);
      const [oldest] = known;
      if (known.size > MAX_ENVELOPES && oldest !== undefined) known.delete(oldest);
    },
    has: (meta) => {
      const text = textOf(meta);
      return text !== undefined && known.has(text);
    },
  };
}

/** Whether metadata claims anything of the newer protocol. */
export function hasEnvelope(meta: Meta): boolean {
  return LOG_LEVEL_META_KEY in meta || KEYS.some((key) => key in meta);
}

/** Undefined if there is none, or one with a log level, whose messages only the SDK can send. */
function textOf(meta: Meta | undefined): string | undefined {
  if (typeof meta?.[PROTOCOL_VERSION_META_KEY] !== "string" || LOG_LEVEL_META_KEY in meta) return undefined;
  const values: unknown[] = [];
  for (const key of KEYS) {
    // JSON would not tell a null from a missing value.
    if (meta[key] === null) return undefined;
    values.push(meta[key]);
  }
  return JSON.stringify(values);
}
