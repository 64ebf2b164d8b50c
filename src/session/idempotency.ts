import { isProblem, type Problem, problem } from "../schema/problem.ts";
import { contentHash } from "../util/content-hash.ts";
import { type Bounds, createFairCache } from "../util/fair-cache.ts";
import { heapBytes } from "../util/heap-bytes.ts";
import type { Json } from "../util/json.ts";
import type { NeededEntry, Sight } from "./needs.ts";
import { keeperOf } from "./result-keeper.ts";
import type { ResultStore } from "./result-store.ts";

/** A call with an idempotency key. */
export interface KeyedCall {
  /** The view of the caller. */
  readonly view: Sight;
  readonly entry: NeededEntry;
  readonly key: string;
  readonly name: string;
  /** Stands for the tool as it is defined, the program behind it, and the exact args. */
  readonly hash: string;
}

interface Answer {
  readonly value: Json;
}

/** Remembers the answers to calls that carry an idempotency key. */
export interface Idempotency {
  /**
   * Runs a call once for each key of a principal. The same key with the same call gives the first answer, also while
   * the call is running. A failure is kept too, since it may have had an effect, unless `neverRan` says that the
   * call was refused before it ran. A key is kept for its whole time: if there is no room, the call does not run.
   *
   * @throws `CONFLICT` if the key was used for another call, or its answer is no longer kept; `KEYS_EXHAUSTED`;
   * `OUTCOME_UNKNOWN` if the gateway that ran it has ended.
   */
  once<T extends Answer>(
    call: KeyedCall,
    run: () => Promise<T>,
    neverRan: (error: unknown) => boolean,
  ): Promise<T>;
}

/** {@link Idempotency} in memory. */
export interface MemoryIdempotency extends Idempotency {
  /** Estimated bytes of the keys and of the answers kept with them. */
  readonly bytes: number;
}

export interface IdempotencyOptions {
  readonly all?: Bounds;
  readonly perPrincipal?: Bounds;
  readonly now?: () => number;
}

interface Known {
  readonly hash: string;
  readonly again: (view: Sight) => Promise<Answer>;
}

const HOUR_MS = 60 * 60_000;
export const KEEP_HOURS = 24;
const MIB = 1024 * 1024;
const ALL: Bounds = { entries: 50_000, size: 128 * MIB };
const PER_PRINCIPAL: Bounds = { entries: 10_000, size: 32 * MIB };
/** Bytes of a key with the outcome of its call, without the answer itself. */
const KEY_BYTES = 1_024;
const MAX_ANSWER_BYTES = 16 * 1_024;

/** Creates the keys of a gateway. Large answers are kept in its results. */
export function createIdempotency(results: ResultStore, options: IdempotencyOptions = {}): MemoryIdempotency {
  const keys = createFairCache<Known>({
    all: options.all ?? ALL,
    perOwner: options.perPrincipal ?? PER_PRINCIPAL,
    ttlMs: KEEP_HOURS * HOUR_MS,
    ...(options.now && { now: options.now }),
  });

  /** Keeps an outcome in place of the one before, if there is room. */
  function keep(id: string, { view, hash }: KeyedCall, outcome: Outcome, mustFit = true): boolean {
    const { id: principalId } = view.principal;
    const before = keys.get(id, principalId);
    keys.delete(id);
    const isSmall = outcome.bytes <= MAX_ANSWER_BYTES;
    const fits = !mustFit || (isSmall && keys.hasRoom(principalId, KEY_BYTES + outcome.bytes));
    const { bytes, again } = fits ? outcome : { bytes: 0, again: before?.again ?? NOT_KEPT.again };
    keys.set(id, principalId, { hash, again }, KEY_BYTES + bytes);
    return fits;
  }

  /** Keeps the first outcome that has room. The last resort takes no more than the running call did. */
  async function settle(
    id: string,
    call: KeyedCall,
    ...outcomes: (() => Outcome | Promise<Outcome>)[]
  ): Promise<void> {
    for (const make of outcomes) if (keep(id, call, await make())) return;
    keep(id, call, NOT_KEPT, false);
  }

  return {
    get bytes() {
      return keys.size;
    },
    once: async <T extends Answer>(
      call: KeyedCall,
      run: () => Promise<T>,
      neverRan: (error: unknown) => boolean,
    ) => {
      const { view, key, name, hash } = call;
      const { id: principalId } = view.principal;
      const id = contentHash({ principalId, key });
      const known = keys.get(id, principalId);
      if (known && known.hash !== hash) {
        throw otherCall();
      }
      if (known) return known.again(view) as Promise<T>;
      if (!keys.hasRoom(principalId, KEY_BYTES)) {
        throw problem("KEYS_EXHAUSTED", { name, hours: KEEP_HOURS });
      }
      const running = run();
      keys.set(id, principalId, { hash, again: () => running }, KEY_BYTES);
      running.then(
        (answer) =>
          settle(
            id,
            call,
            () => whole(answer),
            () => byHandle(answer, call, results),
          ),
        (error) => (neverRan(error) ? keys.delete(id) : settle(id, call, () => failure(error))),
      );
      return running;
    },
  };
}

/** A way to answer again, and the bytes that it takes. */
interface Outcome {
  readonly bytes: number;
  readonly again: (view: Sight) => Promise<Answer>;
}

const NOT_KEPT: Outcome = {
  bytes: 0,
  again: async () => {
    throw answerNotKept();
  },
};

export function otherCall(): Problem {
  return problem("CONFLICT", {
    reason:
      "This idempotency key was already used for another call: with other args, or of the tool before it changed.",
  });
}

export function answerNotKept(): Problem {
  return problem("CONFLICT", {
    reason: "The call with this idempotency key has run, and its answer is no longer kept.",
  });
}

function whole(answer: Answer): Outcome {
  return { bytes: heapBytes(answer, MAX_ANSWER_BYTES), again: async () => answer };
}

/** Keeps the value where large results are kept anyway. It may be gone earlier than the key. */
async function byHandle({ value, ...rest }: Answer, call: KeyedCall, results: ResultStore): Promise<Outcome> {
  try {
    const { handle, stored } = keeperOf(results).keep(value, call.view.principal, call.entry);
    await stored;
    const again = async (view: Sight) => {
      const kept = await keeperOf(results)
        .read(handle, view)
        .catch(() => undefined);
      return kept === undefined ? NOT_KEPT.again(view) : { ...rest, value: kept };
    };
    return { bytes: heapBytes(rest, MAX_ANSWER_BYTES), again };
  } catch {
    // The call has run, so a result that cannot be stored must not fail it.
    return NOT_KEPT;
  }
}

function failure(error: unknown): Outcome {
  const told = isProblem(error) ? [error.message, error.next, error.details] : [String(error)];
  return {
    bytes: 2 * heapBytes(told, MAX_ANSWER_BYTES),
    again: async () => {
      throw error;
    },
  };
}
