import { LRUCache } from "lru-cache";
import type { FinishedCall } from "../../gateway-core.ts";
import { contentHash } from "../../util/content-hash.ts";
import type { Conversation } from "./answers.ts";
import { toStep } from "./to-step.ts";

/** The newest conversations of a gateway, in memory only. */
export interface Conversations {
  note(call: FinishedCall): void;
  /** Newest first. */
  list(): readonly Conversation[];
  find(id: string): Conversation | undefined;
}

const MOST = 200;
const MOST_STEPS = 200;
/** Calls of a caller that names no session belong together until there is a pause. */
const PAUSE_MS = 10 * 60_000;

export function createConversations(): Conversations {
  const known = new LRUCache<string, Conversation>({ max: MOST });
  /** The conversations of callers without a session, by principal. */
  const current = new LRUCache<string, string>({ max: MOST });

  function idOf({ conversation, principal, startedAt }: FinishedCall): string {
    if (conversation !== undefined) return contentHash([principal.id, conversation]).slice(0, 16);
    const open = known.peek(current.get(principal.id) ?? "");
    const isOpen = open !== undefined && startedAt - open.lastAt <= PAUSE_MS;
    const id = isOpen ? open.id : contentHash([principal.id, startedAt]).slice(0, 16);
    current.set(principal.id, id);
    return id;
  }

  return {
    note: (call) => {
      const id = idOf(call);
      const { principal, startedAt, outcome, tokens } = call;
      const before = known.get(id);
      known.set(id, {
        id,
        principal: principal.id,
        startedAt: before?.startedAt ?? startedAt,
        lastAt: startedAt,
        calls: (before?.calls ?? 0) + 1,
        failed: (before?.failed ?? 0) + (outcome === "ok" ? 0 : 1),
        tokens: (before?.tokens ?? 0) + tokens,
        steps: [...(before?.steps ?? []), toStep(call)].slice(-MOST_STEPS),
      });
    },
    list: () => [...known.values()].sort((one, other) => other.lastAt - one.lastAt),
    find: (id) => known.peek(id),
  };
}
