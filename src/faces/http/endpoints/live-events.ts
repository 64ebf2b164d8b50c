import { randomUUID } from "node:crypto";
import type { Approve } from "../../../core/calls/call-environment.ts";
import type { Principal } from "../../../core/nouns/principal.ts";
import type { Approval } from "../../../core/nouns/question.ts";
import type { Gateway } from "../../../gateway/gateway-api.ts";
import type { LiveTopic, WaitingCall } from "./api-types.ts";
import { defineEndpoint, isAdmin } from "./endpoint.ts";
import type { CallRecorder, News } from "./recorder.ts";

/** News that come close together are sent as one event. */
const GATHER_MS = 150;
/** Proxies close streams that stay silent. */
const BEAT_MS = 20_000;

/** The stream of changes. People who run the gateway read all of them, others their own. */
export function createLiveEvents(gateway: Gateway, recorder: CallRecorder) {
  const attending = new Set<object>();

  async function open(principal: Principal, signal: AbortSignal): Promise<Response> {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    const send = (text: string) => void writer.write(encoder.encode(text)).catch(() => {});
    const topics = new Set<LiveTopic>();
    let timer: NodeJS.Timeout | undefined;
    let version = (await gateway.view({ principal })).version;

    async function flush(): Promise<void> {
      timer = undefined;
      const now = (await gateway.view({ principal })).version;
      // Readers are not told of changes outside their View.
      if (now === version && !isAdmin(principal)) topics.delete("catalog");
      version = now;
      if (topics.size > 0) send(`event: change\ndata: ${JSON.stringify({ topics: [...topics] })}\n\n`);
      topics.clear();
    }

    const stop = recorder.onNews((news) => {
      if (!mayKnow(principal, news)) return;
      topics.add(news.topic);
      timer ??= setTimeout(() => void flush().catch(() => {}), GATHER_MS);
    });
    const beat = setInterval(() => send(": still here\n\n"), BEAT_MS);
    beat.unref();
    if (isAdmin(principal)) attending.add(signal);
    signal.addEventListener("abort", () => {
      stop();
      clearTimeout(timer);
      clearInterval(beat);
      attending.delete(signal);
      void writer.close().catch(() => {});
    });
    send("retry: 1000\nevent: open\ndata: {}\n\n");
    return new Response(readable, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
    });
  }

  return {
    endpoint: defineEndpoint("GET /api/events", {
      title: "Live changes, as server-sent events.",
      isStream: true,
      handle: ({ principal, signal }) => open(principal, signal),
    }),
    /** Whether somebody with the admin scope reads the stream. */
    isAttended: () => attending.size > 0,
  };
}

function mayKnow(principal: Principal, { topic, principal: about }: News): boolean {
  if (isAdmin(principal)) return true;
  return topic === "catalog" || (topic === "calls" && about === principal.id);
}

/** A client that never leaves does not wait longer than this. */
const ANSWER_MS = 3_600_000;
const MOST_WAITING = 100;
/** Questions of one principal: more of them would keep those of others out. */
const MOST_OF_ONE = 10;
/** How long no console may be open, such as while a page is loaded again. */
const AWAY_MS = 5_000;
const LOOK_MS = 1_000;

const NEVER_LEAVES = { signal: new AbortController().signal };

export type ApprovalQueue = ReturnType<typeof createApprovalQueue>;

/**
 * Lets people at the console answer questions about calls that nobody else answers. While nobody looks (`isAttended`),
 * a question is answered at once, as without a console. Otherwise it lasts as long as its client waits.
 */
export function createApprovalQueue(isAttended: () => boolean, onChange: () => void) {
  const waiting = new Map<
    string,
    { readonly call: WaitingCall; readonly settle: (answer: Approval) => void }
  >();

  const approve: Approve = ({ op, args, why, principal, inScript }, { signal } = NEVER_LEAVES) => {
    // A script asks about all its effects at once, by its plan.
    if (inScript || signal.aborted || !isAttended() || waiting.size >= MOST_WAITING) return false;
    const questions = waiting.values().filter(({ call }) => call.principal === principal.id);
    if ([...questions].length >= MOST_OF_ONE) return false;
    const id = randomUUID();
    const askedAt = Date.now();
    const { promise, resolve } = Promise.withResolvers<Approval>();
    const timer = setTimeout(() => settle(false), ANSWER_MS);
    timer.unref();
    let seenAt = askedAt;
    const look = setInterval(() => {
      if (isAttended()) seenAt = Date.now();
      else if (Date.now() - seenAt > AWAY_MS) settle(false);
    }, LOOK_MS);
    look.unref();
    const leave = () => settle(false);
    signal.addEventListener("abort", leave);
    const settle = (answer: Approval) => {
      clearTimeout(timer);
      clearInterval(look);
      signal.removeEventListener("abort", leave);
      waiting.delete(id);
      resolve(answer);
      onChange();
    };
    waiting.set(id, {
      call: { id, op, args, why, principal: principal.id, askedAt },
      settle,
    });
    onChange();
    return promise;
  };

  return {
    approve,
    waiting: (): readonly WaitingCall[] => [...waiting.values()].map(({ call }) => call),
    /** False if the call no longer waits. */
    answer: (id: string, approved: boolean, by: string): boolean => {
      const question = waiting.get(id);
      question?.settle(approved ? { by } : "declined");
      return question !== undefined;
    },
    close: () => {
      for (const { settle } of waiting.values()) settle(false);
    },
  };
}
