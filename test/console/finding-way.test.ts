import { beforeAll, expect, onTestFinished, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { axe, findChromium, goTo, openPage } from "./browser.ts";
import { serveShop } from "./console-kit.ts";

const chromium = findChromium();
const CALLS = 25;

beforeAll(() => buildConsole({ ifChanged: true }));

test("a search stands in the address, and keys work again after Esc", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const page = await openPage(shop);
  await page.keyboard.press("/");
  await page.locator("#need").fill("delete/order & more");
  await page.locator(".hit").first().waitFor();
  await page.reload();
  await page.locator(".hit").first().waitFor();
  // The bars of all hits begin and end below each other.
  const bars = await Promise.all((await page.locator(".track").all()).map((bar) => bar.boundingBox()));
  expect(bars.length).toBeGreaterThan(3);
  expect(new Set(bars.map((bar) => `${bar!.x} ${bar!.width}`)).size).toBe(3);
  expect(await page.locator("#need").inputValue()).toBe("delete/order & more");
  await page.locator("#need").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
});

test("a long conversation is folded, and those with failures can be told apart", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  for (let at = 0; at < CALLS; at += 1) await shop.as("clerk", "/api/ask", { query: `orders ${at}` });
  await shop.as("reader", "/api/exec", { op: "shop.order.create", args: { customer: "c1" } });
  const page = await openPage(shop);
  await goTo(page, "sessions", "Sessions");
  const rows = page.locator("[data-row]");
  expect(await rows.count()).toBe(2);
  await rows.filter({ hasText: "clerk" }).click();
  await page.getByRole("button", { name: "Show 5 earlier calls" }).click();
  expect(await page.locator(".timeline > li").count()).toBe(CALLS);
  await page.getByLabel("Only with failures").check();
  expect(await rows.count()).toBe(1);
  expect(await rows.textContent()).toContain("reader");
  // A box takes no text, so keys go on working.
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  expect(await axe(page)).toEqual([]);
});
