import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { customProblem, isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { PROBLEMS, type ProblemCode } from "../../base/problems/problems.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import type { Json } from "../../base/util/json.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Bounds, OpenStorage, Storage } from "../../base/util/storage.ts";
import type { NeededEntry, ResultReader } from "../sessions/read-conditions.ts";
import { heapBytes } from "./heap-bytes.ts";
import { openMemoryStorage } from "./memory-storage.ts";
import { keeperOf } from "./result-keeper.ts";
import type { ResultStore } from "./result-store.ts";

/** A call with an idempotency key. */
export interface KeyedCall {
  readonly view: ResultReader;
  readonly entry: NeededEntry;
  readonly key: string;
  readonly name: string;
  /** Covers the tool's definition, the program behind it and the exact args. */
  readonly hash: string;
}

/** The answer to a call with an idempotency key. */
export interface KeyedAnswer {
  readonly value: Json;
}

/** Remembers the answers to calls with an idempotency key. */
export interface Idempotency {
  /**
   * Runs a call once for each key of a principal. The same key with the same call gives the first answer, even while
   * the call runs. Failures are stored too, because they may have had an effect, unless `neverRan` says that the call
   * was refused before it ran. A run that returns undefined did not begin and leaves the key free. Keys are stored for
   * their whole time: without room, the call does not run.
   *
   * @throws `CONFLICT` if the key was used for another call, or its answer is no longer stored; `KEYS_EXHAUSTED`;
   * `OUTCOME_UNKNOWN` if the gateway that ran it has ended.
   */
  once<T extends KeyedAnswer>(
    call: KeyedCall,
    run: () => Promise<T | undefined>,
    neverRan: (error: unknown) => boolean,
  ): Promise<T | undefined>;
}

/** Gateways that share keys. */
export interface GatewayGroup {
  /** This gateway. */
  readonly id: string;
  /** Whether a gateway was active lately. */
  isRunning(id: string): Promise<boolean>;
}

export interface IdempotencyOptions {
  /** Default: keys in memory. */
  readonly open?: OpenStorage;
  readonly all?: Bounds;
  readonly perPrincipal?: Bounds;
  /** Gateways that share the keys. Default: only this one. */
  readonly gateways?: GatewayGroup;
  /** Removes secrets from stored answers. Default: answers stay unchanged. */
  readonly redact?: <T>(value: T) => T;
}

const HOUR_MS = 60 * 60_000;
const KEEP_HOURS = 24;
const MIB = 1024 * 1024;
const ALL: Bounds = { entries: 50_000, size: 128 * MIB };
const PER_PRINCIPAL: Bounds = { entries: 10_000, size: 32 * MIB };
/** Bytes of a key besides its content. */
const KEY_BYTES = 512;
const MAX_ANSWER_BYTES = 16 * 1_024;
/** How long to wait for a call that another gateway runs. The next call with its key waits again. */
const WAIT_MS = 60_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;
const SETTLE_TRIES = 8;
const ALONE: GatewayGroup = { id: "", isRunning: async () => true };

/** See {@link KeyedCalls}. */
export function createIdempotency(results: ResultStore, options: IdempotencyOptions = {}): Idempotency {
  return new KeyedCalls(results, options);
}

/**
 * Runs calls once over all gateways that share the storage. A call runs only after its key was stored. A key is never
 * taken from another gateway: if that gateway has ended, the outcome stays unknown for the life of the key. Large
 * answers are stored with the results.
 */
class KeyedCalls implements Idempotency {
  private readonly results: ResultStore;
  private readonly gateways: GatewayGroup;
  private readonly redact: <T>(value: T) => T;
  private readonly keys: Storage<StoredKey>;
  /** Running calls of this process. */
  private readonly running = new Map<
    string,
    { readonly hash: string; readonly answer: Promise<KeyedAnswer | undefined> }
  >();

  constructor(results: ResultStore, options: IdempotencyOptions) {
    const { open = openMemoryStorage, all = ALL, perPrincipal = PER_PRINCIPAL } = options;
    this.results = results;
    this.gateways = options.gateways ?? ALONE;
    this.redact = options.redact ?? ((value) => value);
    this.keys = open<StoredKey>("key", {
      all,
      perOwner: perPrincipal,
      ttlMs: KEEP_HOURS * HOUR_MS,
      lasting: true,
      overhead: KEY_BYTES,
      fromText: (text) => keySchema.parse(JSON.parse(text)),
      cached: 1_024,
    });
  }

  async once<T extends KeyedAnswer>(
    call: KeyedCall,
    run: () => Promise<T | undefined>,
    neverRan: (error: unknown) => boolean,
  ): Promise<T | undefined> {
    const id = contentHash({ principalId: call.view.principal.id, key: call.key });
    for (let here = this.running.get(id); here; here = this.running.get(id)) {
      if (here.hash !== call.hash) throw otherCall();
      const answered = (await here.answer) as T | undefined;
      // A call that did not begin leaves its key to the next one.
      if (answered !== undefined) return answered;
    }
    const answer = this.claimAndRun(id, call, run, neverRan);
    this.running.set(id, { hash: call.hash, answer });
    try {
      return await answer;
    } finally {
      this.running.delete(id);
    }
  }

  /** Waits for the outcome of a call that another gateway runs or ran. */
  private async follow(id: string, { view, name, hash }: KeyedCall): Promise<KeyedAnswer | undefined> {
    const until = performance.now() + WAIT_MS;
    let hasEnded = false;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const key = await this.keys.get(id, view.principal.id);
      if (!key) return undefined;
      if (key.hash !== hash) throw otherCall();
      if (key.outcome || key.claim === undefined) return toAnswer(key.outcome, view, this.results);
      // A claim of this gateway without a running call: a statement that seemed to fail has written it.
      if (hasEnded || key.claim.gateway === this.gateways.id) throw problem("OUTCOME_UNKNOWN", { name });
      // A gateway may write the outcome and end at once: read the key again.
      hasEnded = !(await this.gateways.isRunning(key.claim.gateway));
      if (hasEnded) continue;
      if (performance.now() > until) {
        throw problem("CONFLICT", {
          reason:
            "The call with this idempotency key still runs. Call again with the same key for its answer.",
        });
      }
      await setTimeout(pause);
    }
  }

  /** Stores the outcome, or only that the call ran if there is no room for more. */
  private async settle(id: string, { view, hash }: KeyedCall, claim: string, outcomes: KeyOutcome[]) {
    const small = outcomes.filter((outcome) => heapBytes(outcome, MAX_ANSWER_BYTES) <= MAX_ANSWER_BYTES);
    for (const key of [...small.map((outcome): StoredKey => ({ hash, outcome })), { hash }]) {
      const updated = await this.keys.update(id, view.principal.id, (now) =>
        now.claim?.id === claim ? key : now,
      );
      if (updated?.claim?.id !== claim) return;
    }
  }

  private async release(id: string, { view }: KeyedCall, claim: string): Promise<void> {
    await this.keys.update(id, view.principal.id, (now) => (now.claim?.id === claim ? undefined : now));
  }

  private async toOutcomes(
    { value, ...others }: KeyedAnswer,
    { view, entry }: KeyedCall,
  ): Promise<KeyOutcome[]> {
    const whole: KeyOutcome = { kind: "answer", answer: this.redact({ ...others, value }) };
    if (heapBytes(whole, MAX_ANSWER_BYTES) <= MAX_ANSWER_BYTES) return [whole];
    const { handle, stored } = keeperOf(this.results).keep(value, view.principal, entry);
    await stored;
    return [{ kind: "large", rest: this.redact(others), handle }];
  }

  private async claimAndRun<T extends KeyedAnswer>(
    id: string,
    call: KeyedCall,
    run: () => Promise<T | undefined>,
    neverRan: (error: unknown) => boolean,
  ): Promise<T | undefined> {
    const claim = { id: randomUUID(), gateway: this.gateways.id };

    const runClaimed = async (): Promise<T | undefined> => {
      let answer: T | undefined;
      try {
        answer = await run();
      } catch (error) {
        const outcomes = await orNone(async () => [toFailure(error)]);
        await persist(() =>
          neverRan(error) ? this.release(id, call, claim.id) : this.settle(id, call, claim.id, outcomes),
        );
        throw error;
      }
      if (answer === undefined) {
        await persist(() => this.release(id, call, claim.id));
        return undefined;
      }
      // The call ran, so an answer that cannot be stored must not fail it.
      const ran = answer;
      const outcomes = await orNone(() => this.toOutcomes(ran, call));
      await persist(() => this.settle(id, call, claim.id, outcomes));
      return answer;
    };

    const take = () => this.keys.put(id, call.view.principal.id, { hash: call.hash, claim });
    const isTaken = await take().catch(async (error: unknown) => {
      // The key may have been inserted although the statement seemed to fail.
      await persist(() => this.release(id, call, claim.id));
      throw error;
    });
    if (isTaken) return runClaimed();
    const answer = await this.follow(id, call);
    if (answer) return answer as T;
    // Released or expired meanwhile, or never stored for lack of room.
    if (await take()) return runClaimed();
    throw problem("KEYS_EXHAUSTED", { name: call.name, hours: KEEP_HOURS });
  }
}

function orNone(make: () => Promise<KeyOutcome[]>): Promise<KeyOutcome[]> {
  return make().catch(() => []);
}

/** Tries once immediately and then in the background: the caller has its answer in any case. */
async function persist(write: () => Promise<void>, tries = SETTLE_TRIES): Promise<void> {
  try {
    await write();
  } catch {
    if (tries === 1) return;
    void setTimeout(LONGEST_PAUSE_MS * 2 ** (SETTLE_TRIES - tries), undefined, { ref: false }).then(() =>
      persist(write, tries - 1),
    );
  }
}

const CODES = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

const outcomeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("answer"), answer: z.record(z.string(), z.json()) }),
  /** The value is stored with the large results. */
  z.object({ kind: z.literal("large"), rest: z.record(z.string(), z.json()), handle: z.string() }),
  z.object({
    kind: z.literal("problem"),
    code: z.enum(CODES),
    message: z.string(),
    next: z.string(),
    details: z.record(z.string(), z.json()),
  }),
  z.object({ kind: z.literal("error"), message: z.string() }),
]);

/** The outcome of a call for other gateways. */
type KeyOutcome = z.infer<typeof outcomeSchema>;

const keySchema = z.object({
  hash: z.string(),
  claim: z.object({ id: z.string(), gateway: z.string() }).exactOptional(),
  outcome: outcomeSchema.exactOptional().catch(undefined as never),
});

/**
 * A key with the claim of a running call, or with an outcome. With neither, the call ran and its answer is not stored.
 */
type StoredKey = z.infer<typeof keySchema>;

function otherCall(): Problem {
  return problem("CONFLICT", {
    reason:
      "This idempotency key was already used for another call: with other args, or of the tool before it changed.",
  });
}

async function toAnswer(
  outcome: KeyOutcome | undefined,
  view: ResultReader,
  results: ResultStore,
): Promise<KeyedAnswer> {
  if (outcome?.kind === "answer") return outcome.answer as unknown as KeyedAnswer;
  if (outcome?.kind === "error" || outcome?.kind === "problem") throw fromFailure(outcome);
  const value =
    outcome &&
    (await keeperOf(results)
      .read(outcome.handle, view)
      .catch(() => undefined));
  if (outcome && value !== undefined) return { ...outcome.rest, value };
  throw problem("CONFLICT", {
    reason: "The call with this idempotency key has run, and its answer is no longer kept.",
  });
}

function toFailure(error: unknown): KeyOutcome {
  if (!isProblem(error)) return { kind: "error", message: reasonOf(error) };
  const { code, message, next, details } = error.toJSON();
  return { kind: "problem", code, message, next, details: JSON.parse(JSON.stringify(details)) };
}

function fromFailure(outcome: KeyOutcome & { kind: "problem" | "error" }): Error {
  if (outcome.kind === "error") return new Error(outcome.message);
  return customProblem(outcome.code, outcome.message, outcome.next, outcome.details);
}
