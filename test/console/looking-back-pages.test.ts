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
  await page.getByLabel("Server, whole").fill("other");
  await page.getByText("No records fit").waitFor();
  await page.getByLabel("Server, whole").fill("shop");
  await page.getByText("dry run, nothing changed").waitFor();
  await page.setViewportSize({ width: 360, height: 860 });
  expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
  // Nothing of a row has to be scrolled to.
  const box = await rows.first().boundingBox();
  expect(box!.x + box!.width).toBeLessThanOrEqual(360);
  expect(await axe(page)).toEqual([]);
});

test("the overview tells calls, failures and times by tool, server, agent and day", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const create = { op: "shop.order.create", args: { customer: "c1" } };
  await shop.as("clerk", "/api/exec", create);
  await shop.as("reader", "/api/exec", create);
  const page = await openPage(shop);
  const table = page.getByRole("region", { name: "Calls by tool" });
  expect(await table.locator("tbody").textContent()).toMatch(/^shop\.order\.create21 \w+ 1\d+ ms/);
  await page.getByRole("combobox", { name: "By" }).selectOption("agent");
  const agents = page.getByRole("region", { name: "Calls by agent" }).locator("tbody tr");
  await agents.first().waitFor();
  expect(await agents.allTextContents()).toEqual([
    expect.stringMatching(/^clerk1none/),
    expect.stringMatching(/^reader11 /),
  ]);
  await page.getByRole("combobox", { name: "By" }).selectOption("day");
  await page.getByRole("region", { name: "Calls by day" }).waitFor();
  expect(await axe(page)).toEqual([]);
});
