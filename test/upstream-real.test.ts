import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fromMcpConfig } from "keyhole/sources";
import { expect } from "vitest";
import { verifies } from "./claims.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { gatewayOf } from "./upstream-kit.ts";

const { resolve } = createRequire(import.meta.url);

function entryOf(name: string): string {
  return join(dirname(resolve(`@modelcontextprotocol/${name}/package.json`)), "dist/index.js");
}

verifies("upstream:real", "ask, get and exec work with four third-party servers", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "note.txt"), "Ship on Friday.");
  const server = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [entryOf(name), ...args],
  });
  const sources = fromMcpConfig(
    {
      mcpServers: {
        everything: server("server-everything"),
        files: server("server-filesystem", folder),
        memory: {
          ...server("server-memory"),
          env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
        },
        thinking: server("server-sequential-thinking"),
        off: { command: "does-not-exist", disabled: true },
      },
    },
    { trusted: true },
  );
  const gateway = gatewayOf(sources);
  try {
    const best = async (query: string) => (await gateway.ask({ query })).hits[0]?.route;
    await expect
      .poll(() => best("read a text file"), { timeout: 30_000 })
      .toBe("files://tools/read_text_file");
    await expect
      .poll(() => best("sequential thinking with thoughts"), { timeout: 30_000 })
      .toBe("thinking://tools/sequentialthinking");

    const read = await gateway.get({
      routes: [
        { route: "files.read_text_file", params: { path: join(folder, "note.txt") } },
        { route: "everything://prompts/args-prompt", params: { city: "Rome" } },
        { route: "everything://resources/architecture.md" },
        { route: "everything://resources/Dynamic-Text-Resource", params: { resourceId: "1" } },
      ],
    });
    expect(read.summary).toEqual({ total: 4, succeeded: 4, failed: 0 });
    expect(read.text).toContain("Ship on Friday.");
    expect(read.text).toContain("What's weather in Rome?");

    const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }];
    expect(await gateway.exec({ op: "memory.create_entities", args: { entities } })).toMatchObject({
      ok: true,
    });
    expect((await gateway.exec({ op: "memory.search_nodes", args: { query: "Ada" } })).text).toContain(
      "programs",
    );

    const image = await gateway.exec({ op: "everything.get-tiny-image", args: {} });
    expect(image).toMatchObject({ result: { blocks: [{ type: "image", mimeType: "image/png" }] } });
    const sum = await gateway.exec({ op: "everything.get-sum", args: { a: 2, b: 3 } });
    expect(sum.text).toContain("5");
    const wrong = await gateway.exec({ op: "files.read_text_file", args: { path: "/etc/passwd" } });
    expect(wrong).toMatchObject({ ok: false, error: { code: "UPSTREAM_ERROR" } });
  } finally {
    await gateway.close();
  }
});

verifies("upstream:real", "a server built with another SDK works the same", async () => {
  const server = { command: process.execPath, args: [join(import.meta.dirname, "other-sdk-upstream.ts")] };
  // The name says that it adds something, so only a person's word makes it a tool that reads.
  const options = { trusted: true, lanes: { add_numbers: "read" as const } };
  const gateway = gatewayOf(fromMcpConfig({ mcpServers: { calculator: server } }, options));
  try {
    await expect
      .poll(async () => (await gateway.ask({ query: "add two numbers" })).hits[0]?.op, { timeout: 30_000 })
      .toBe("calculator.add_numbers");
    const routes = [
      { route: "calculator.add_numbers", params: { one: 2, other: 3 } },
      { route: "calculator://prompts/explain" },
    ];
    const { text, summary } = await gateway.get({ routes });
    expect(summary.succeeded).toBe(2);
    expect(text).toContain("5");
    expect(text).toContain("Explain the sum.");
  } finally {
    await gateway.close();
  }
});
