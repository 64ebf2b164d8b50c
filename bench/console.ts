// The weight of the console's page, and how long a person waits for it and for the first search result.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createGateway } from "keyhole";
import { serveConsole } from "keyhole/http";
import { createMcpServer } from "keyhole/mcp";
import { PLAYGROUND } from "../examples/playground/principals.ts";
import { createSystems } from "../examples/playground/systems.ts";
import { buildConsole } from "../scripts/build-console.ts";
import { findChromium, openBrowser } from "../test/console/browser.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { percentile } from "./percentile.ts";

const BUILT = "console/built";
const NEEDS = [
  "new blog post",
  "mark the task as done",
  "fraud of a user",
  "create a project",
  "unicode text",
];
const ROUNDS = 3;

export const benchmark: Benchmark = async () => {
  await buildConsole({ ifChanged: true });
  const files = readdirSync(BUILT, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const weights = files.map(({ parentPath, name }) => gzipSync(readFileSync(join(parentPath, name))).length);
  const weight = weights.reduce((sum, bytes) => sum + bytes, 0);
  return [
    row("page", "gzipped", weight / 1000, "KB"),
    row("page", "files", files.length, "files"),
    ...(await timesIn(findChromium())),
  ];
};

async function timesIn(chromium: string | undefined): Promise<Row[]> {
  if (!chromium) {
    console.error("No Chromium on this machine, so nothing is timed: apt-get install chromium");
    return [];
  }
  const systems = createSystems();
  const gateway = createGateway({
    domains: systems.flatMap(({ domains }) => domains),
    sources: systems.flatMap(({ sources }) => sources),
    principal: PLAYGROUND,
  });
  const server = createMcpServer(gateway);
  const http = await serveConsole(gateway, server);
  await gateway.ready();
  const browser = await openBrowser(chromium);
  try {
    const page = await browser.newPage();
    const opened = await timed(async () => {
      await page.goto(http.consoleLink);
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    });
    await page.goto(`${new URL(http.url).origin}/console/#/search`);
    await page.locator("#as option").first().waitFor({ state: "attached" });
    const searched: number[] = [];
    const asked: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const need of NEEDS) {
        asked.push(await timed(() => gateway.ask({ query: need })));
        await page.locator("#need").fill("");
        await page.locator(".hit").first().waitFor({ state: "detached" });
        searched.push(
          await timed(async () => {
            await page.locator("#need").fill(need);
            await page.locator(".hit").first().waitFor();
          }),
        );
      }
    }
    return [
      row("page", "opened", opened, "ms"),
      row("search", "first result", percentile(searched, 50), "ms"),
      row("search", "first result, 95 of 100", percentile(searched, 95), "ms"),
      row("search", "ask alone", percentile(asked, 50), "ms"),
    ];
  } finally {
    await browser.close();
    await http.close();
    await server.close();
    await gateway.close();
    await Promise.all(systems.map((system) => system.close()));
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function row(name: string, metric: string, value: number, unit: string): Row {
  return { bench: "console", case: name, system: "keyhole", metric, value, unit };
}
