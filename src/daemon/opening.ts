import { toLine } from "./lines.ts";

type Id = string | number;

/** The messages that make a session of the older protocol what it is, so that the next daemon can be told them. */
export interface Opening {
  /** Notes a message of the client. */
  note(method: string, id: Id | undefined, line: Buffer): void;
  /** The messages for a new daemon. Requests that the client waits for keep their ids, the others get own ones. */
  lines(pending: ReadonlyMap<Id, unknown>): Buffer[];
  /** Whether a pending request is among these messages. */
  covers(id: Id): boolean;
  /** Whether an answer is to a message that only the relay has sent. */
  isOwn(id: Id | undefined): boolean;
  /** Whether a line may be such an answer. */
  mayBeOwn(line: Buffer): boolean;
}

/** No client uses ids like these. */
const OWN = "keyhole-relay-";

interface Kept {
  readonly id: Id | undefined;
  readonly line: Buffer;
}

export function createOpening(): Opening {
  /** By what it sets: a later message of the same key takes the place of the earlier one. */
  const kept = new Map<string, Kept>();
  let count = 0;

  return {
    note: (method, id, line) => {
      const key = keyOf(method, line);
      if (key === undefined) return;
      if (method === "resources/unsubscribe") kept.delete(key);
      else kept.set(key, { id, line });
    },
    lines: (pending) =>
      [...kept.values()].map(({ id, line }) => {
        if (id === undefined || pending.has(id)) return line;
        count += 1;
        return toLine({ ...JSON.parse(line.toString()), id: `${OWN}${count}` });
      }),
    covers: (id) => [...kept.values()].some((message) => message.id === id),
    isOwn: (id) => typeof id === "string" && id.startsWith(OWN),
    mayBeOwn: (line) => line.includes(OWN),
  };
}

function keyOf(method: string, line: Buffer): string | undefined {
  switch (method) {
    case "initialize":
    case "notifications/initialized":
    case "logging/setLevel":
      return method;
    case "resources/subscribe":
    case "resources/unsubscribe":
      return `resource ${JSON.parse(line.toString()).params?.uri}`;
    default:
      return undefined;
  }
}
