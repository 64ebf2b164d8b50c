import { beforeAll, expect, onTestFinished, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { axe, findChromium, goTo, openPage } from "./browser.ts";
import { serveShop } from "./console-kit.ts";
import { OVERFLOW } from "./in-page.ts";

const chromium = findChromium();

beforeAll(() => buildConsole({ ifChanged: true }));

const MANY = 105;

test("the audit page looks back: one row for a call, older pages, filters, and a dry run that reads as one", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  await shop.as("clerk", "/api/exec", { op: "shop.order.delete", args: { id: 1 } });
  for (let at = 0; at < MANY; at += 1)
    await shop.as("clerk", "/api/exec", { op: "shop.order.create", args: { customer: `c${at}` } });
  const page = await openPage(shop);
  await goTo(page, "audit", "Audit");
  const rows = page.locator("tbody tr");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(100);
  expect(await rows.first().textContent()).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d.*shop\.order\.create.*ok/,
  );
  await page.getByRole("button", { name: "Older" }).click();
  await page.getByText("dry run, nothing changed").waitFor();
  expect(await rows.count()).toBe(MANY + 1 - 100);
  await page.getByRole("button", { name: "Newest" }).click();
  await page.getByRole("button", { name: "Older" }).waitFor();
  await page.getByLabel("Outcome").selectOption("dry run");
  await page.getByText("dry run, nothing changed").waitFor();
  expect(await rows.count()).toBe(1);
  await page.getByLabel("Server").fill("other");
  await page.getByText("No records fit").waitFor();
  await page.getByLabel("Server").fill("shop");
  await page.getByText("dry run, nothing changed").waitFor();
  // The filter stands in the address.
  await page.reload();
  await page.getByText("dry run, nothing changed").waitFor();
  expect(await page.getByLabel("Server").inputValue()).toBe("shop");
  expect(await rows.count()).toBe(1);
  await page.setViewportSize({ width: 360, height: 860 });
  expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
  // Nothing of a row has to be scrolled to.
  const box = await rows.first().boundingBox();
  expect(box!.x + box!.width).toBeLessThanOrEqual(360);
  expect(await axe(page)).toEqual([]);
});

test("the page of usage tells calls, failures and times by tool, server, agent and day, and money where there are prices", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const create = { op: "shop.order.create", args: { customer: "c1" } };
  await shop.as("clerk", "/api/exec", create);
  await shop.as("reader", "/api/exec", create);
  const page = await openPage(shop);
  await page.getByRole("link", { name: "By tool, server, agent and day" }).click();
  const table = page.getByRole("region", { name: "Calls by tool" });
  expect(await table.locator("tbody").textContent()).toMatch(/^shop\.order\.create21 \w+ 1\d+ ms/);
  await page.getByRole("combobox", { name: "By" }).selectOption("agent");
  const agents = page.getByRole("region", { name: "Calls by agent" }).locator("tbody tr");
  await agents.first().waitFor();
  expect(await agents.allTextContents()).toEqual([
    expect.stringMatching(/^clerk1none/),
    expect.stringMatching(/^reader11 /),
  ]);
  expect(await page.getByRole("columnheader").allTextContents()).toEqual(
    expect.arrayContaining(["Tokens of finding", "Tokens of results"]),
  );
  await page.getByRole("combobox", { name: "By" }).selectOption("day");
  await page.getByRole("region", { name: "Calls by day" }).waitFor();
  expect(await axe(page)).toEqual([]);
  const cost = { name: "shop.order.create", calls: 2, failed: 1, tokens: 9, cost: 1.5 };
  const json = { kept: true, currency: "EUR", people: [], servers: [], tools: [cost], days: [] };
  await page.route("**/api/usage?*", (route) => route.fulfill({ json }));
  await page.reload();
  await table.getByRole("cell", { name: "1.50 EUR" }).waitFor();
});

test("a chart has its values as a table, for a keyboard too", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  for (let at = 0; at < 3; at += 1) await shop.as("clerk", "/api/ask", { query: "list orders" });
  await shop.as("reader", "/api/exec", { op: "shop.order.create", args: { customer: "c1" } });
  const page = await openPage(shop);
  await page.getByText("Calls by minute, in numbers").focus();
  await page.keyboard.press("Enter");
  const rows = await page
    .getByRole("region", { name: "Calls by minute" })
    .locator("tbody tr")
    .allTextContents();
  const sums = rows.map((row) => /^\d\d:\d\d(\d)(\d)$/.exec(row)?.slice(1).map(Number) ?? []);
  expect(sums.reduce((sum, [fine = 0]) => sum + fine, 0)).toBe(3);
  expect(sums.reduce((sum, [, failed = 0]) => sum + failed, 0)).toBe(1);
  await page.getByText("Tokens by day", { exact: true }).click();
  const days = page.getByRole("region", { name: "Tokens by day" }).locator("tbody tr");
  // No menu was shown; searches and results have tokens.
  expect(await days.allTextContents()).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d0––[1-9]\d+$/)]);
  expect(await axe(page)).toEqual([]);
});
