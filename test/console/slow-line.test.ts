import { join } from "node:path";
import type { Request } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { findChromium, goTo, openPage } from "./browser.ts";
import { serveShop } from "./console-kit.ts";

const chromium = findChromium();

beforeAll(() => buildConsole({ ifChanged: true }));

const PAGES = [
  "Overview",
  "Search",
  "Approvals",
  "Servers",
  "Sessions",
  "Agents",
  "Unused searches",
  "Usage",
  "Audit",
];
const LATENCY_MS = 600;
const CHANGE_MS = 250;

test("over a slow line, every page shows while agents work, and no change aborts a request", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const page = await openPage(shop);
  const aborted: string[] = [];
  page.on("requestfailed", (request: Request) => aborted.push(request.url()));
  await page.route(
    (url) => url.pathname.startsWith("/api/") && url.pathname !== "/api/events",
    async (route) => {
      await new Promise((done) => setTimeout(done, LATENCY_MS));
      await route.continue().catch(() => {});
    },
  );
  const agents = setInterval(() => void shop.gateway.ask({ query: "list orders" }), CHANGE_MS);
  onTestFinished(() => clearInterval(agents));
  for (const name of PAGES) {
    await page
      .getByRole("navigation")
      .getByRole("link", { name: new RegExp(`^${name}`) })
      .click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await page.locator("main [aria-busy]").waitFor({ state: "detached" });
    // The page goes on loading what changed, one request after the other.
    await page.waitForTimeout(3 * CHANGE_MS);
  }
  expect(aborted).toEqual([]);
});

test("a page asks for its content at once, without waiting to know who looks", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const page = await openPage(shop);
  await page.route(/\/api\/(me|principals)$/, () => {});
  await goTo(page, "search/delete%20order", "Search");
  await page.reload();
  await page.locator(".hit").first().waitFor();
  await goTo(page, "servers", "Servers");
  await page.reload();
  await page.getByRole("heading", { name: "All servers" }).waitFor();
  // The newest conversation does not wait for the list of all.
  await page.route(/\/api\/sessions$/, () => {});
  const asked = page.waitForRequest(/\/api\/session$/);
  await page.goto(`${shop.origin}/console/#/sessions`);
  await asked;
});

test("a person who leaves the page and comes back, again and again, finds it, and a page that was left attends to no call", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const page = await openPage(shop);
  // A browser opens six connections to a host, and keeps six pages that were left.
  for (let visit = 0; visit < 8; visit += 1) {
    await page.goto("about:blank");
    await page.goto(`${shop.origin}/console/#/overview`);
    await page.getByText("Live", { exact: true }).waitFor();
  }
  await page.goto("about:blank");
  const refund = { op: "shop.refund.send", args: { customer: "c1", cents: 1 } };
  await expect
    .poll(async () => (await shop.as("clerk", "/api/exec", refund)).json(), { timeout: 20_000 })
    .toMatchObject({ ok: false });
  // A page that the browser kept goes on where it was.
  await page.goBack({ waitUntil: "commit" });
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await page.getByText("The gateway does not answer").count()).toBe(0);
});

test("many tabs of the console are live together, also when the one that was opened first is closed", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const first = await openPage(shop);
  const tabs = [first];
  for (let tab = 1; tab < 8; tab += 1) {
    const page = await first.context().newPage();
    tabs.push(page);
    await page.goto(`${shop.origin}/console/#/sessions`);
    await page.getByText("Live", { exact: true }).waitFor();
  }
  await shop.as("clerk", "/api/ask", { query: "list the orders" });
  for (const page of tabs.slice(1)) await page.getByText("list the orders").first().waitFor();
  await first.close();
  const last = tabs.at(-1)!;
  await expect
    .poll(
      async () => {
        await shop.as("clerk", "/api/ask", { query: "create an order" });
        return last.getByText("create an order").count();
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0);
  await last.getByText("Live", { exact: true }).waitFor();
});

test("a restarted gateway is told and found again, and the login outlives it", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const file = join(temporaryFolder(), "console.db");
  const before = await serveShop({}, { file });
  const page = await openPage(before);
  const port = Number(new URL(before.origin).port);
  await before.close();
  await page.getByText("The gateway does not answer").waitFor();
  // What was there stays on the page.
  await page.getByRole("heading", { name: "Health" }).waitFor();

  const after = await serveShop({}, { file, port });
  onTestFinished(() => after.close());
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await page.getByText("The gateway does not answer").count()).toBe(0);
  await page.reload();
  await page.getByText("Live", { exact: true }).waitFor();
});

test("an ended session says so, and what to do", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const before = await serveShop();
  const page = await openPage(before);
  const port = Number(new URL(before.origin).port);
  await before.close();
  const after = await serveShop({}, { port });
  onTestFinished(() => after.close());
  await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
  expect(await page.locator("main").textContent()).toMatch(/keyhole serve --http/);
});
