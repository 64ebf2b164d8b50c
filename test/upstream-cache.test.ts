import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Gateway } from "keyhole";
import { expect } from "vitest";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { CHAOS, type ChaosOptions, chaos, eventually, gatewayOf } from "./upstream-kit.ts";

async function list(options: ChaosOptions): Promise<void> {
  const gateway = gatewayOf([chaos("bad", options)]);
  await gateway.ready();
  await gateway.close();
}

async function using(
  options: ChaosOptions,
  use: (gateway: Gateway, source: ReturnType<typeof chaos>) => unknown,
) {
  const source = chaos("bad", options);
  const gateway = gatewayOf([source]);
  try {
    await gateway.ready();
    await use(gateway, source);
  } finally {
    await gateway.close();
  }
}

verifies("upstream:lazy", "a start with a cached listing starts no server until a call", async () => {
  const options = { cacheDirectory: temporaryFolder() };
  await list(options);
  await using(options, async (gateway, source) => {
    expect((await gateway.help({ path: "bad.add" })).ok).toBe(true);
    expect(source.diagnostics()).toMatchObject({ fromCache: true, connected: false, starts: 0 });
    expect(await gateway.exec({ op: "bad.add", args: {} })).toMatchObject({ ok: true });
    expect(source.diagnostics()).toMatchObject({ connected: true, starts: 1 });
  });
});

verifies(
  "upstream:lazy",
  "a folder that the config names and the same one by default have one listing",
  async () => {
    const cacheDirectory = temporaryFolder();
    const server = { command: process.execPath, args: [CHAOS] };
    const options = { trusted: true, cacheDirectory, cwd: process.cwd() };
    for (const config of [{ ...server, cwd: process.cwd() }, server]) {
      const gateway = gatewayOf([createMcpSource("bad", config, options)]);
      await gateway.ready();
      await gateway.close();
    }
    expect(readdirSync(cacheDirectory)).toHaveLength(1);
  },
);

verifies("upstream:lazy", "a server that an ask finds starts before it is called", async () => {
  const options = { cacheDirectory: temporaryFolder() };
  await list(options);
  await using(options, async (gateway, source) => {
    await gateway.ask({ query: "zebra" });
    expect(source.diagnostics()).toMatchObject({ fromCache: true, connected: false, starts: 0 });
    expect((await gateway.ask({ query: "adds numbers" })).hits[0]?.op).toBe("bad.add");
    await eventually(() => expect(source.diagnostics()).toMatchObject({ connected: true, starts: 1 }));
    expect(await gateway.exec({ op: "bad.add", args: {} })).toMatchObject({ ok: true });
    expect(source.diagnostics().starts).toBe(1);
  });
});

verifies("upstream:lazy", "a server without consent does not start when an ask finds it", async () => {
  const options = { cacheDirectory: temporaryFolder() };
  await list(options);
  await using({ ...options, mayStart: () => false }, async (gateway, source) => {
    expect((await gateway.ask({ query: "adds numbers" })).hits[0]?.op).toBe("bad.add");
    expect(source.diagnostics()).toMatchObject({ connected: false, starts: 0 });
  });
});

verifies("upstream:lazy", "of fifty cached listings an ask starts at most three servers", async () => {
  const cacheDirectory = temporaryFolder();
  await list({ cacheDirectory });
  const [kept = ""] = readdirSync(cacheDirectory);
  const labels = Array.from({ length: 50 }, (_, index) => `bad${index}`);
  for (const label of labels) {
    writeFileSync(join(cacheDirectory, kept.replace("bad", label)), readFileSync(join(cacheDirectory, kept)));
  }
  const sources = labels.map((label) => chaos(label, { cacheDirectory }));
  const gateway = gatewayOf(sources);
  const { hits } = await gateway.ask({ query: "bad49.add" });
  expect(hits[0]?.op).toBe("bad49.add");
  const startsOf = (from: number) => sources.slice(from).map((source) => source.diagnostics().starts);
  await eventually(() => expect(startsOf(49)).toEqual([1]));
  expect(startsOf(0).filter((starts) => starts > 0).length).toBeLessThanOrEqual(3);
  await gateway.close();
});

verifies("upstream:lazy", "a stale listing is shown at once and read again", async () => {
  const options = { cacheDirectory: temporaryFolder() };
  await list(options);
  await using({ ...options, ttlMs: 1 }, async (gateway, source) => {
    expect((await gateway.ask({ query: "bad.add" })).hits[0]?.op).toBe("bad.add");
    await eventually(() => expect(source.diagnostics()).toMatchObject({ connected: true, fromCache: false }));
  });
});

verifies("upstream:lazy", "a damaged listing is read again from the server", async () => {
  const options = { cacheDirectory: temporaryFolder() };
  await list(options);
  const [file = ""] = readdirSync(options.cacheDirectory);
  const path = join(options.cacheDirectory, file);
  writeFileSync(path, readFileSync(path, "utf8").replace("Adds two", "Adds ten"));
  await using(options, (_, source) => {
    expect(source.diagnostics()).toMatchObject({ fromCache: false, starts: 1 });
  });
});

verifies("upstream:lazy", "another config is another server", async () => {
  const options = { cacheDirectory: temporaryFolder() };
  await list(options);
  await using({ ...options, words: ["banner"] }, (_, source) => {
    expect(source.diagnostics()).toMatchObject({ fromCache: false, starts: 1 });
  });
});

verifies("upstream:lazy", "cached entries of a server that is down stay listed with the reason", async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in from the variables.
  const options = { cacheDirectory: temporaryFolder(), env: { CHAOS_START: "${CHAOS_WORD:-}" } };
  await list(options);
  await using({ ...options, variables: { CHAOS_WORD: "exit" } }, async (gateway) => {
    const refused = await gateway.exec({ op: "bad.add", args: {} });
    expect(refused).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
    expect(refused.text).toContain("no config found");
    await eventually(async () => {
      const { text } = await gateway.ask({ query: "bad.add" });
      expect(text).toContain("unavailable, server_down: it exited with code 3");
    });
  });
});

verifies("upstream:lazy", "a source serves one gateway after another", async () => {
  const source = chaos("bad");
  for (const round of [1, 2]) {
    const gateway = gatewayOf([source]);
    expect(await gateway.exec({ op: "bad.add", args: { round } })).toMatchObject({ result: { round } });
    await gateway.close();
    expect(source.diagnostics().connected).toBe(false);
  }
});

verifies(
  "upstream:lazy",
  "a kept listing is shown first, however little time a server gets to start",
  async () => {
    const cacheDirectory = temporaryFolder();
    await list({ cacheDirectory });
    const source = chaos("bad", { cacheDirectory, limits: { startingMs: 0 } });
    const stop = new AbortController();
    for await (const { drafts } of source.contents(stop.signal)) {
      expect(drafts.map(({ route }) => route)).toContain("bad://tools/add");
      stop.abort();
    }
    expect(source.diagnostics().starts).toBe(0);
  },
);

verifies(
  "upstream:lazy",
  "a cached listing counts for the same values, folder and program alone",
  async () => {
    const cacheDirectory = temporaryFolder();
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is a variable of a config.
    const env = { ACCOUNT: "${ACCOUNT}" };
    const [folder, other] = [temporaryFolder(), temporaryFolder()];
    const options = { cacheDirectory, env, cwd: folder, variables: { ACCOUNT: "mine" } };
    await list(options);
    const isCached = async (changed: ChaosOptions) => {
      let fromCache: boolean | undefined;
      await using({ ...options, ...changed }, (_, source) => {
        ({ fromCache } = source.diagnostics());
      });
      return fromCache;
    };
    expect(await isCached({ limits: { totalMs: 1_000 } })).toBe(true);
    expect(await isCached({ environment: { PATH: process.env.PATH, MORE: "1" } })).toBe(true);
    expect(await isCached({ variables: { ACCOUNT: "of somebody else" } })).toBe(false);
    expect(await isCached({ cwd: other })).toBe(false);
    expect(await isCached({ wrapped: true, environment: { PATH: process.env.PATH } })).toBe(false);
  },
);
