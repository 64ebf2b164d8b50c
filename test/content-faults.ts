import { expect, onTestFinished, test } from "vitest";
import type { ContentSource } from "../src/core/nouns/pipeline.ts";
import { type Answer, NOW, send, type TestClock, testClock } from "./content-kit.ts";
import { type LoopbackApi, type Seen, startLoopbackApi } from "./loopback-api.ts";

export interface Remote {
  /** Opens the source for an API at that address. */
  open(options: SharedOptions): ContentSource;
  /** The healthy API. */
  answer(api: LoopbackApi): Answer;
  /** The token, which must not appear anywhere. */
  readonly secret: string;
  /** Recognises requests other than for documents, such as for tokens. */
  readonly isApart?: (request: Seen) => boolean;
}

export interface SharedOptions {
  readonly baseUrl: string;
  readonly allowPrivateHosts: readonly string[];
  readonly clock: TestClock;
  readonly random: () => number;
  readonly maxBytes?: number;
}

/** Behaviour of every HTTP source when its API fails. */
export function describeFaults(name: string, remote: Remote): void {
  const TRANSIENT: readonly (readonly [string, Fault, readonly number[]])[] = [
    ["429 with seconds to wait", (_, to) => send(to, 429, "{}", { "retry-after": "7" }), [7_000]],
    [
      "429 with a date to wait for",
      (_, to) => send(to, 429, "{}", { "retry-after": new Date(NOW + 90_000).toUTCString() }),
      [90_000],
    ],
    [
      "a rate limit with an epoch second as its reset",
      (_, to) => {
        const reset = String(NOW / 1000 + 30);
        send(to, 403, "{}", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset });
      },
      [30_000],
    ],
    ["503", (_, to) => send(to, 503, "<html>busy</html>"), [250]],
    ["502 with a body of JSON", (_, to) => send(to, 502, '{"message":"Bad Gateway"}'), [250]],
    [
      "a body that breaks off",
      (_, to) => {
        to.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
        to.write('{"docs": [');
        setImmediate(() => to.destroy());
      },
      [250],
    ],
    ["incomplete JSON", (_, to) => send(to, 200, '[{"id": 1}, {"id"'), [250]],
    ["a dropped connection", (_, to) => to.destroy(), [250]],
  ];

  test.each(TRANSIENT)(`${name}: recovers from %s`, async (_, fault, waits) => {
    const { api, clock, source } = await start(remote);
    const expected = await open(remote, api, testClock()).listDocuments();
    failing(remote, api, fault, 1);
    expect(await source.listDocuments()).toEqual(expected);
    expect(clock.waits).toEqual(waits);
  });

  test(`${name}: a permanent failure is retried with growing waits and lists nothing`, async () => {
    const { api, clock, source } = await start(remote);
    failing(remote, api, (_, to) => send(to, 500, '{"message":"boom"}'));
    await expect(source.listDocuments()).rejects.toMatchObject({ code: "CALL_FAILED" });
    expect(clock.waits).toEqual([250, 500, 1_000, 2_000]);
  });

  test(`${name}: a failure of a later request fails the whole listing`, async () => {
    const { api, source } = await start(remote);
    const healthy = remote.answer(api);
    let count = 0;
    api.answer = (request, response) => {
      if (remote.isApart?.(request)) return healthy(request, response);
      count += 1;
      return count === 1 ? healthy(request, response) : send(response, 404, '{"message":"gone"}');
    };
    await expect(source.listDocuments()).rejects.toMatchObject({ code: "CALL_FAILED" });
  });

  test(`${name}: a wait over the limit fails at once`, async () => {
    const { api, clock, source } = await start(remote);
    failing(remote, api, (_, to) => send(to, 429, "{}", { "retry-after": "86400" }));
    await expect(source.listDocuments()).rejects.toMatchObject({
      code: "RATE_LIMITED",
      next: expect.stringContaining("86400 seconds"),
    });
    expect(clock.waits).toEqual([]);
  });

  test(`${name}: unchanged answers are not sent again`, async () => {
    const { api, source } = await start(remote);
    const first = await source.listDocuments();
    const asked = api.seen.filter((request) => !remote.isApart?.(request)).length;
    api.seen.length = 0;
    expect(await source.listDocuments()).toEqual(first);
    const again = api.seen.filter((request) => !remote.isApart?.(request));
    expect(again).toHaveLength(asked);
    for (const request of again) expect(request.headers["if-none-match"]).toMatch(/^"\w+"$/);
  });

  test(`${name}: refused credentials need a login and are not repeated in the error`, async () => {
    const { api, clock, source } = await start(remote);
    failing(remote, api, (request, to) => {
      send(to, 401, JSON.stringify({ message: `Bad credentials: ${JSON.stringify(request.headers)}` }));
    });
    const error = await source.listDocuments().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "LOGIN_NEEDED" });
    expect(JSON.stringify(error)).not.toContain(remote.secret);
    expect(clock.waits).toEqual([]);
  });

  test(`${name}: can be cancelled during a request and before one`, async () => {
    const { api, source } = await start(remote);
    const controller = new AbortController();
    failing(remote, api, () => controller.abort());
    const context = { signal: controller.signal, progress: () => {} };
    await expect(source.listDocuments(context)).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(source.listDocuments(context)).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test(`${name}: reports a wait and can be cancelled during it`, async () => {
    const { api, source } = await start(remote);
    const controller = new AbortController();
    const messages: string[] = [];
    failing(remote, api, (_, to) => send(to, 503, ""));
    const progress = ({ message = "" }) => {
      messages.push(message);
      controller.abort();
    };
    const listing = source.listDocuments({ signal: controller.signal, progress });
    await expect(listing).rejects.toMatchObject({ code: "CANCELLED" });
    expect(messages.at(-1)).toMatch(/trying again in 1 s/);
  });

  test(`${name}: an answer over the limit is refused`, async () => {
    const { api } = await start(remote);
    const source = open(remote, api, testClock(), 1_000);
    failing(remote, api, (_, to) => send(to, 200, JSON.stringify("x".repeat(5_000))));
    await expect(source.listDocuments()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });

  test(`${name}: an answer with the wrong shape is refused`, async () => {
    const { api, source } = await start(remote);
    failing(remote, api, (_, to) => send(to, 200, '{"constructor": 1}'));
    await expect(source.listDocuments()).rejects.toMatchObject({ code: "SOURCE_INVALID" });
  });

  test(`${name}: an unknown id is not requested`, async () => {
    const { api, source } = await start(remote);
    failing(remote, api, (_, to) => send(to, 404, '{"message":"Not Found"}'));
    for (const id of ["", "../../user", "__proto__", "pr:1/../../x", "doc:a/b", "suite:x"]) {
      const error = await source.fetchContent(id).catch((caught: unknown) => caught);
      expect(["NOT_FOUND", "CALL_FAILED"]).toContain(Reflect.get(Object(error), "code"));
    }
  });
}

type Fault = (request: Seen, response: Parameters<Answer>[1]) => void;

async function start(remote: Remote) {
  const api = await startLoopbackApi();
  onTestFinished(() => api.close());
  api.answer = remote.answer(api);
  const clock = testClock();
  return { api, clock, source: open(remote, api, clock) };
}

function open(remote: Remote, api: LoopbackApi, clock: TestClock, maxBytes?: number): ContentSource {
  const limits = maxBytes === undefined ? {} : { maxBytes };
  return remote.open({ baseUrl: api.url, allowPrivateHosts: [api.host], clock, random: () => 0, ...limits });
}

/** Makes the API fail this many times; then it is healthy again. */
function failing(remote: Remote, api: LoopbackApi, fault: Fault, times = Number.POSITIVE_INFINITY): void {
  const healthy = remote.answer(api);
  let left = times;
  api.answer = (request, response) => {
    if (left <= 0 || remote.isApart?.(request)) return healthy(request, response);
    left -= 1;
    return fault(request, response);
  };
}
