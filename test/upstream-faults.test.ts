import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Gateway } from "keyhole";
import { afterEach, expect } from "vitest";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { type ChaosOptions, chaos, eventually, gatewayOf } from "./upstream-kit.ts";

let open: Gateway | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

/** A faulty server beside a healthy one. */
function start(options: ChaosOptions = {}, callMs = 60_000) {
  const bad = chaos("bad", options);
  const good = chaos("good");
  open = gatewayOf([bad, good], { limits: { callMs } });
  return { bad, gateway: open };
}

async function goodStillAnswers(gateway: Gateway): Promise<void> {
  const answer = await gateway.exec({ op: "good.add", args: { a: 1 } });
  expect(answer).toMatchObject({ ok: true, result: { a: 1 } });
}

verifies(
  ["upstream:faults", "crash-mid-call"],
  "a crash during a call names the server and the cause, and the call runs once",
  async () => {
    const log = join(temporaryFolder(), "calls");
    const { gateway, bad } = start({ env: { CHAOS_LOG: log } });
    await gateway.ready();
    const crashed = await gateway.exec({ op: "bad.crash", args: {} });
    expect(crashed).toMatchObject({ ok: false, error: { code: "UPSTREAM_LOST" } });
    expect(crashed.text).toContain("bad");
    expect(crashed.text).toContain("code 7");
    expect(crashed.text).toContain("fatal: chaos was asked for");
    expect(readFileSync(log, "utf8")).toBe("crash\n");
    await goodStillAnswers(gateway);
    // The next call starts it again.
    expect(await gateway.exec({ op: "bad.add", args: { b: 2 } })).toMatchObject({
      ok: true,
      result: { b: 2 },
    });
    expect(bad.diagnostics().starts).toBe(2);
  },
);

verifies(
  ["upstream:faults", "crash-mid-call"],
  "reads are repeated once after a crash, writes never",
  async () => {
    const log = join(temporaryFolder(), "calls");
    const { gateway } = start({ env: { CHAOS_LOG: log } });
    const crashed = await gateway.exec({ op: "bad.read_crash", args: {} });
    expect(crashed).toMatchObject({ ok: false, error: { code: "UPSTREAM_LOST" } });
    expect(readFileSync(log, "utf8")).toBe("read_crash\nread_crash\n");
  },
);

verifies(
  ["upstream:faults", "crash-mid-call"],
  "a server that keeps crashing is marked as down with the reason",
  async () => {
    const { gateway, bad } = start({ limits: { restarts: 2, backoffMs: 1 } });
    for (let count = 0; count < 3; count += 1) await gateway.exec({ op: "bad.crash", args: {} });
    const refused = await gateway.exec({ op: "bad.add", args: {} });
    expect(refused).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
    expect(refused.text).toContain("more than 2 times");
    await eventually(async () => {
      const { text } = await gateway.ask({ query: "bad.add" });
      expect(text).toContain("server_down");
    });
    expect(bad.diagnostics().starts).toBe(3);
    await goodStillAnswers(gateway);
  },
);

verifies(
  ["upstream:faults", "hang"],
  "a hanging call ends at its limit, is cancelled upstream, and frees its slot",
  async () => {
    const { gateway } = start({ limits: { concurrency: 1, breakerTimeouts: 5 } }, 300);
    const hung = await gateway.exec({ op: "bad.hang", args: {} });
    expect(hung).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    const told = await gateway.exec({ op: "bad.cancelled", args: {} });
    expect(told).toMatchObject({ ok: true, result: { cancelled: 1 } });
    await goodStillAnswers(gateway);
  },
);

verifies(
  ["upstream:faults", "hang"],
  "several hanging calls in a row open the breaker, and it closes again",
  async () => {
    const { gateway, bad } = start({ limits: { breakerMs: 1_500, breakerTimeouts: 3 } }, 300);
    await gateway.ready();
    const before = bad.diagnostics().pid;
    await Promise.all(Array.from({ length: 3 }, () => gateway.exec({ op: "bad.hang", args: {} })));
    const refused = await gateway.exec({ op: "bad.add", args: {} });
    expect(refused.text).toContain("3 calls in a row were not answered in time");
    await goodStillAnswers(gateway);
    await eventually(async () =>
      expect(await gateway.exec({ op: "bad.add", args: {} })).toMatchObject({ ok: true }),
    );
    expect(bad.diagnostics().pid).not.toBe(before);
  },
);

verifies("upstream:faults", "calls over the limit wait, and over the queue are refused", async () => {
  const { gateway } = start({ limits: { concurrency: 2, queue: 3, breakerTimeouts: 99 } }, 500);
  await gateway.ready();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => gateway.exec({ op: "bad.hang", args: {} })),
  );
  const codes = answers.map((answer) => (answer.ok ? "ok" : answer.error.code)).sort();
  expect(codes).toEqual([...Array(3).fill("BUSY"), ...Array(5).fill("TIMEOUT")]);
  await goodStillAnswers(gateway);
});

verifies(["upstream:faults", "client-gone"], "the caller's signal reaches the server", async () => {
  const { gateway } = start();
  await gateway.ready();
  const caller = new AbortController();
  const hung = gateway.exec({ op: "bad.hang", args: {} }, { signal: caller.signal });
  setTimeout(() => caller.abort(), 100);
  expect(await hung).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  const told = await gateway.exec({ op: "bad.cancelled", args: {} });
  expect(told).toMatchObject({ result: { cancelled: 1 } });
});

verifies(
  ["upstream:faults", "bad-start", "malformed-upstream"],
  "garbage, duplicate ids and unknown ids are ignored",
  async () => {
    const { gateway, bad } = start({ words: ["banner"] });
    expect((await gateway.exec({ op: "bad.garbage", args: {} })).text).toContain("after garbage");
    expect((await gateway.exec({ op: "bad.duplicate", args: {} })).text).toContain("first");
    expect((await gateway.exec({ op: "bad.wrong_id", args: {} })).text).toContain("for you");
    expect(await gateway.exec({ op: "bad.add", args: { c: 3 } })).toMatchObject({ result: { c: 3 } });
    expect(bad.diagnostics().invalidLines).toBeGreaterThanOrEqual(4);
    expect(bad.diagnostics().starts).toBe(1);
  },
);

verifies(["upstream:faults", "huge-result"], "a line up to the size limit is a normal result", async () => {
  const { gateway } = start();
  const large = await gateway.exec({ op: "bad.big_line", args: {} });
  expect(large).toMatchObject({ ok: true, meta: { stored: { chars: expect.any(Number) } } });
});

verifies(
  ["upstream:faults", "long-line"],
  "a line over the size limit ends only that server, with the reason",
  async () => {
    const { gateway } = start({ limits: { maxLineBytes: 10 * 1024 * 1024 } });
    const refused = await gateway.exec({ op: "bad.big_line", args: {} });
    expect(refused).toMatchObject({ ok: false, error: { code: "UPSTREAM_LOST" } });
    expect(refused.text).toContain("a line longer than 10485760 bytes");
    await goodStillAnswers(gateway);
    expect(await gateway.exec({ op: "bad.add", args: {} })).toMatchObject({ ok: true });
  },
);

verifies(["upstream:faults", "flapping"], "an endless list is cut", async () => {
  const { gateway, bad } = start({ words: ["endless"] });
  await gateway.ready();
  const cut = `an unknown number of its tools after the first ${18 + 1_023} are left out`;
  expect(bad.diagnostics().warnings).toEqual([cut]);
  expect(bad.diagnostics().entries).toBe(18 + 1_023);
  expect((await gateway.ask({ query: "add" })).text).toContain(`bad: ${cut}`);
  await goodStillAnswers(gateway);
});

verifies("upstream:faults", "an ask says how many tools over the limit are left out", async () => {
  const { gateway, bad } = start({ limits: { maxEntries: 10 } });
  const cut = "8 of its tools after the first 10 are left out";
  expect((await gateway.ask({ query: "add" })).text).toContain(`bad: ${cut}.`);
  expect((await gateway.ask({ query: "add", domain: "good" })).text).not.toContain(cut);
  expect(bad.diagnostics().warnings).toEqual([cut]);
});

verifies(["upstream:faults", "flapping"], "a list with a repeated cursor is cut", async () => {
  const { gateway, bad } = start({ words: ["endless-same"] });
  await gateway.ready();
  expect(bad.diagnostics().warnings.join()).toContain("begins again");
});

verifies(["upstream:faults", "flapping"], "a thousand change notifications cause one listing", async () => {
  const lists = join(temporaryFolder(), "lists");
  const { gateway } = start({ env: { CHAOS_LISTS: lists }, limits: { relistMs: 200 } });
  await gateway.ready();
  const { version } = gateway;
  expect((await gateway.exec({ op: "bad.flap", args: {} })).text).toContain("flapped");
  await eventually(() => expect(readFileSync(lists, "utf8")).toBe("list\nlist\n"));
  await new Promise((done) => setTimeout(done, 500));
  expect(readFileSync(lists, "utf8")).toBe("list\nlist\n");
  expect(gateway.version).toBe(version);
});

const STARTS: [string, ChaosOptions, string][] = [
  ["exits at its start", { words: ["exit"] }, "it exited with code 3; it said: no config found"],
  ["never answers", { words: ["silent"], limits: { connectMs: 400 } }, "did not answer in time"],
];
for (const [what, options, reason] of STARTS) {
  verifies(
    ["upstream:faults", "bad-start"],
    `a server that ${what} is listed as down, with the reason`,
    async () => {
      const { gateway } = start(options);
      await gateway.ready();
      const { results } = await gateway.get({ routes: [{ route: "bad://resources/server" }] });
      expect(JSON.stringify(results)).toContain("UNAVAILABLE");
      expect(JSON.stringify(results)).toContain(reason);
      await goodStillAnswers(gateway);
    },
  );
}

verifies(
  ["upstream:faults", "bad-start"],
  "a server that exits on the probe is used in the older protocol",
  async () => {
    const { gateway, bad } = start({ words: ["dies-on-probe"] });
    expect(await gateway.exec({ op: "bad.add", args: {} })).toMatchObject({ ok: true });
    expect(bad.diagnostics().protocol).toBe("legacy");
  },
);

verifies("upstream:faults", "an error of the server keeps its own text", async () => {
  const { gateway } = start();
  const failed = await gateway.exec({ op: "bad.fail", args: {} });
  expect(failed).toMatchObject({ ok: false, error: { code: "UPSTREAM_ERROR" } });
  expect(failed.text).toContain("The server bad answered with an error: the disk is full");
});

verifies(
  ["upstream:faults", "hang"],
  "two hundred hanging calls do not affect the other servers",
  async () => {
    const { gateway } = start({ limits: { breakerTimeouts: 999 } }, 2_000);
    await gateway.ready();
    const hung = Promise.all(Array.from({ length: 200 }, () => gateway.exec({ op: "bad.hang", args: {} })));
    for (let count = 0; count < 20; count += 1) await goodStillAnswers(gateway);
    const codes = new Set((await hung).map((answer) => (answer.ok ? "ok" : answer.error.code)));
    expect([...codes]).toEqual(["TIMEOUT"]);
  },
);

verifies(
  ["upstream:faults", "schema-bomb"],
  "a definition that is nested too deeply does not affect the others",
  async () => {
    const { gateway } = start({ words: ["deep"] });
    expect(await gateway.exec({ op: "bad.add", args: {} })).toMatchObject({ ok: true });
    const deep = await gateway.exec({ op: "bad.deep", args: {} });
    expect(deep).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
    await goodStillAnswers(gateway);
  },
);

verifies(["upstream:faults", "bad-start"], "a missing command is reported", async () => {
  const source = createMcpSource("bad", { command: "/does/not/exist" });
  open = gatewayOf([source, chaos("good")]);
  expect((await open.ask({ query: "bad" })).text).toContain("server_down: it cannot be started (ENOENT)");
  await goodStillAnswers(open);
});
