import { type InputRequest, type InputRequiredResult, inputRequired } from "@modelcontextprotocol/server";
import { problem } from "../../base/problems/problem.ts";
import type { Clock } from "../../base/util/clock.ts";
import { fieldsOf, listOf } from "../../base/util/plain-object.ts";
import type { CallingClient, ClientRoot } from "../../core/nouns/entry.ts";
import { mintHandle } from "../../core/sessions/mint-handle.ts";
import type { FaceOptions } from "../../gateway/face-api.ts";
import { refusedState } from "./protocol-errors.ts";
import type { RequestContext } from "./request.ts";
import type { SealedStates } from "./sealed-state.ts";

const KEY = "question";
/** How long a client has to answer. */
const ANSWER_MS = 10 * 60_000;

export type OpenCalls = ReturnType<typeof createOpenCalls>;

/**
 * Calls that go on while their client answers a server's question. In the newer protocol a question ends the request:
 * the call waits here, and the client's next request brings the answer. The SDK does the same for older clients.
 */
export function createOpenCalls(states: SealedStates, clock: Clock) {
  const open = new Map<string, OpenCall>();
  const roots = createRootsCache(clock);
  return {
    forgetRoots: roots.forget,
    /** Starts a call, or goes on with the one that asked. Returns its result or its next question. */
    run: async <T extends object>(
      context: RequestContext,
      start: (options: Pick<FaceOptions, "client" | "signal">) => Promise<T>,
    ): Promise<T | InputRequiredResult> => {
      const { state, principal } = context;
      if (state?.kind !== "open" && !context.answersServers) return start({});
      const id = state?.kind === "open" ? state.call : mintHandle("");
      const call = state?.kind === "open" ? open.get(id) : new OpenCall(clock, roots.of, start);
      if (!call) throw refusedState();
      open.set(id, call);
      const asked = await call.goOn(context).catch((error: unknown) => {
        open.delete(id);
        throw error;
      });
      if ("result" in asked) open.delete(id);
      else call.onExpired = () => open.delete(id);
      return "result" in asked
        ? (asked.result as T)
        : inputRequired({
            inputRequests: { [KEY]: asked.question as InputRequest },
            requestState: states.openState(id, principal),
          });
    },
    /** Ends the calls of a connection that is closed. */
    leave: (connection: object) => {
      for (const call of open.values()) if (call.isOf(connection)) call.cancel();
    },
    close: () => {
      for (const call of open.values()) call.cancel();
    },
  };
}

type Start = (options: Pick<FaceOptions, "client" | "signal">) => Promise<object>;
type AskClient = NonNullable<CallingClient["request"]>;
type Roots = readonly ClientRoot[];

/** Clients of the newer protocol do not tell when their roots change. */
const ROOTS_MS = 60_000;

/** The roots of connections, until they change. */
function createRootsCache(clock: Clock) {
  const known = new WeakMap<object, { readonly at: number; readonly roots: Roots }>();
  return {
    of: async ({ connection }: CallingClient, ask: AskClient): Promise<Roots> => {
      const last = connection && known.get(connection);
      if (last && clock.monotonic() - last.at < ROOTS_MS) return last.roots;
      const answered = fieldsOf(await ask("roots/list", {})).roots;
      const roots = listOf(answered) as Roots;
      if (connection) known.set(connection, { at: clock.monotonic(), roots });
      return roots;
    },
    forget: (connection: object) => known.delete(connection),
  };
}

/** One call with its questions, which are asked one after the other. */
class OpenCall {
  onExpired = () => {};
  private readonly clock: Clock;
  private readonly rootsOf: (client: CallingClient, ask: AskClient) => Promise<Roots>;
  private readonly start: Start;
  private readonly controller = new AbortController();
  private outcome: Promise<{ readonly result: object }> | undefined;
  private client: CallingClient | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private asked = Promise.withResolvers<{ readonly question: object }>();
  private answer: PromiseWithResolvers<unknown> | undefined;
  private stopExpiring = () => {};

  constructor(clock: Clock, rootsOf: OpenCall["rootsOf"], start: Start) {
    this.clock = clock;
    this.rootsOf = rootsOf;
    this.start = start;
  }

  /** Gives the answer that a request brings, and waits for the result or the next question. */
  async goOn({ options, responses }: RequestContext) {
    this.stopExpiring();
    this.client = options.client;
    const { signal } = options;
    const cancel = () => this.cancel(signal?.reason);
    signal?.addEventListener("abort", cancel, { once: true });
    this.outcome ??= this.begin(options.client!);
    this.answer?.resolve(responses[KEY]);
    const next = await Promise.race([this.outcome, this.asked.promise]);
    signal?.removeEventListener("abort", cancel);
    if ("question" in next) this.stopExpiring = this.clock.after(ANSWER_MS, () => this.cancel());
    return next;
  }

  isOf(connection: object): boolean {
    return this.client?.connection === connection;
  }

  cancel(reason: unknown = problem("CLOSED")): void {
    this.controller.abort(reason);
    this.answer?.reject(reason);
    this.onExpired();
  }

  private async begin(client: CallingClient): Promise<{ readonly result: object }> {
    const request: AskClient = (method, params) => {
      const turn = this.turn.then(() => this.ask({ method, params }));
      this.turn = turn.catch(() => {});
      return turn;
    };
    const result = await this.start({
      signal: this.controller.signal,
      client: {
        ...client,
        // Each request of the call has its own way to its client.
        progress: (update) => this.client?.progress(update),
        log: (...message) => this.client?.log(...message),
        request,
        ...(client.capabilities.roots !== undefined && { roots: () => this.rootsOf(client, request) }),
      },
    });
    return { result };
  }

  private async ask(question: object): Promise<unknown> {
    const answer = Promise.withResolvers<unknown>();
    this.answer = answer;
    const asked = this.asked;
    this.asked = Promise.withResolvers();
    asked.resolve({ question });
    const response = await answer.promise;
    this.answer = undefined;
    if (response === undefined) throw problem("CANCELLED", { name: "the question" });
    return response;
  }
}
