// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../src/base/util/clock.ts";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { createNoticeGate } from "../src/sources/mcp/notice-gate.ts";
import { sweepOrphans } from "../src/sources/mcp/process-tree.ts";
import { StdioTransport } from "../src/sources/mcp/stdio-transport.ts";
import { verifies } from "./claims.ts";
import { type ChaosOptions, chaos, eventually, gatewayOf, processesWith } from "./upstream-kit.ts";

const HARD: [string, ChaosOptions][] = [
  ["a plain server", {}],
  ["a server in a shell", { wrapped: true }],
  ["a server that ignores SIGTERM", { words: ["ignore-term"] }],
  [
    "a server in a shell whose child left the process group",
    { wrapped: true, words: ["double-fork", "ignore-term"] },
  ],
];
for (const [what, options] of HARD) {
  verifies(["upstream:processes", "process-leak"], `no process of ${what} is left after close`, async () => {
    const word = `CHAOS_TEST=${randomUUID()}`;
    const [name = "", value = ""] = word.split("=");
    const source = chaos("bad", { ...options, env: { [name]: value }, limits: { graceMs: 100 } });
    const gateway = gatewayOf([source]);
    expect(await gateway.exec({ op: "bad.add", args: {} })).toMatchObject({ ok: true });
    const expected = (options.wrapped ? 2 : 1) + (options.words?.includes("double-fork") ? 2 : 0);
    await eventually(() => expect(processesWith(word)).toHaveLength(expected));
    await gateway.close();
    expect(processesWith(word)).toEqual([]);
  });
}

verifies(
  ["upstream:processes", "process-leak"],
  "no process is left of a server that crashed after a fork",
  async () => {
    const word = `CHAOS_TEST=${randomUUID()}`;
    const source = chaos("bad", { env: { CHAOS_TEST: word.slice(11) }, limits: { graceMs: 50 } });
    const gateway = gatewayOf([source]);
    await gateway.exec({ op: "bad.fork", args: {} });
    await eventually(() => expect(processesWith(word)).toHaveLength(3));
    await gateway.exec({ op: "bad.crash", args: {} });
    await eventually(() => expect(processesWith(word)).toEqual([]));
    await gateway.close();
  },
);

verifies(
  ["upstream:processes", "process-leak"],
  "the next gateway ends the processes that a killed one left behind",
  async () => {
    const word = `CHAOS_TEST=${randomUUID()}`;
    const script = `
    import { chaos, gatewayOf } from ${JSON.stringify(resolve("test/upstream-kit.ts"))};
    const source = chaos("bad", { env: { CHAOS_TEST: "${word.slice(11)}" }, words: ["double-fork", "ignore-term"] });
    await gatewayOf([source]).exec({ op: "bad.add", args: {} });
    console.log("ready");
    setInterval(() => {}, 1000);`;
    const other = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(other.stdout, "data");
    await eventually(() => expect(processesWith(word)).toHaveLength(3));
    await sweepOrphans();
    expect(processesWith(word)).toHaveLength(3);
    other.kill("SIGKILL");
    await once(other, "exit");
    expect(processesWith(word).length).toBeGreaterThan(0);
    expect(await sweepOrphans()).toBeGreaterThan(0);
    await eventually(() => expect(processesWith(word)).toEqual([]));
  },
);

verifies(
  ["upstream:processes", "T7"],
  "a server gets its arguments unchanged and only declared variables",
  async () => {
    process.env.KEYHOLE_TEST_SECRET = "not for servers";
    const words = ["$(touch x)", "; rm -rf .", "a b", "`id`", "'\"", "*"];
    const source = chaos("bad", { words, env: { CHAOS_DECLARED: "1" } });
    const gateway = gatewayOf([source]);
    try {
      const answer = await gateway.exec({ op: "bad.environment", args: {} });
      const { argv, names } = (answer.ok ? answer.result : {}) as { argv: string[]; names: string[] };
      expect(argv).toEqual(words);
      expect(names).toContain("CHAOS_DECLARED");
      const allowed = /^(CHAOS_DECLARED|HOME|KEYHOLE_UPSTREAM|LANG|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER)$/;
      // Servers reach the network as the person does.
      const network = /_PROXY$|^NODE_EXTRA_CA_CERTS$|^SSL_CERT_(FILE|DIR)$|_CA_BUNDLE$/i;
      expect(names.filter((name) => !allowed.test(name) && !network.test(name))).toEqual([]);
    } finally {
      delete process.env.KEYHOLE_TEST_SECRET;
      await gateway.close();
    }
  },
);

verifies("upstream:secrets", "secrets in the output of a server are hidden", async () => {
  const config = {
    command: "sh",
    args: ["-c", 'echo "refused key $KEY and $0" >&2; exit 1', "--token=${TOKEN}"],
    env: { KEY: "${env:KEY}" },
  };
  const variables = { KEY: "k3y-of-the-house", TOKEN: "t0ken-of-mine" };
  const source = createMcpSource("bad", config, { variables });
  const gateway = gatewayOf([source]);
  const { text } = await gateway.ask({ query: "bad" });
  expect(text).toContain("refused key [secret] and --token=[secret]");
  expect(source.diagnostics().stderr).toContain("[secret]");
  const { results } = await gateway.get({ routes: [{ route: "bad://resources/server" }] });
  expect(JSON.stringify([text, results, source.diagnostics()])).not.toMatch(/k3y|t0ken/);
  await gateway.close();
});

verifies("upstream:secrets", "a missing variable is named, and nothing is started", async () => {
  const source = createMcpSource("bad", { command: "sh", args: ["${NOT_SET}"] }, { variables: {} });
  const gateway = gatewayOf([source]);
  expect((await gateway.ask({ query: "bad" })).text).toContain("the variable NOT_SET is not set");
  expect(source.diagnostics().pid).toBeUndefined();
  await gateway.close();
});

verifies(
  ["upstream:processes", "process-leak"],
  "a gateway that exits without closing ends its servers",
  async () => {
    const word = `CHAOS_TEST=${randomUUID()}`;
    const script = `
    import { chaos, gatewayOf } from ${JSON.stringify(resolve("test/upstream-kit.ts"))};
    const source = chaos("bad", { env: { CHAOS_TEST: "${word.slice(11)}" }, words: ["ignore-term"], wrapped: true });
    await gatewayOf([source]).exec({ op: "bad.add", args: {} });
    process.exit(0);`;
    const other = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
    await once(other, "exit");
    await eventually(() => expect(processesWith(word)).toEqual([]), 2_000);
  },
);

test("a server that is closed while it is about to start does not start", async () => {
  const transport = new StdioTransport({
    label: "late",
    command: process.execPath,
    args: ["-e", "setInterval(() => {}, 1000)"],
    env: { PATH: process.env.PATH ?? "" },
    maxLineBytes: 1_000,
    graceMs: 100,
    gate: createNoticeGate(systemClock),
  });
  const starting = transport.start();
  await transport.close();
  await expect(starting).rejects.toThrow("it was closed before it started");
  expect(transport.pid).toBeNull();
});
