import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { fromMcpConfig } from "keyhole/sources";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { verifies } from "../claims.ts";
import { clerk } from "../shop.ts";
import { eventually } from "../upstream-kit.ts";
import { axe, findChromium, openBrowser } from "./browser.ts";
import { type ServedShop, serveShop } from "./console-kit.ts";
import { HOSTILE, hostileDomain, hostileServer } from "./hostile-shop.ts";
import {
  attack,
  CURRENT_IS_SHOWN,
  OVERFLOW,
  SCROLL_MENU,
  TURN_TEXT_INTO_CODE,
  WIDE_TABLES,
} from "./in-page.ts";

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
  "Documents",
  "Settings",
];
const chromium = findChromium();

let shop: ServedShop;
let browser: BrowserContext;
let page: Page;
let agent: Client;
const errors: string[] = [];

beforeAll(async () => {
  if (!chromium) return;
  await buildConsole({ ifChanged: true });
  shop = await serveShop({
    domains: [hostileDomain()],
    sources: fromMcpConfig({ mcpServers: { hostile: hostileServer() } }),
  });
  agent = new Client({ name: "agent", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: "Bearer clerk" } };
  await agent.connect(new StreamableHTTPClientTransport(new URL(shop.http.url), { requestInit }));
  browser = await openBrowser(chromium);
  page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(shop.http.consoleLink);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
});
afterAll(async () => {
  await agent?.close();
  await browser?.close();
  await shop?.close();
});

function needsBrowser({ skip }: TestContext): void {
  if (chromium) return;
  console.warn("skipped: no Chromium on this machine; apt-get install chromium");
  skip();
}

const base = () => `${shop.origin}/console/`;

async function go(name: string, to: Page = page): Promise<void> {
  await to.goto(`${base()}#/${name.toLowerCase().split(" ", 1)}`);
  await to.getByRole("heading", { name, level: 1 }).waitFor();
  await to.locator("[aria-busy]").waitFor({ state: "detached" });
}

/** How far a page is wider than its window. */
const overflow = (to: Page) => to.evaluate(OVERFLOW);

const hacked = (to: Page) => to.evaluate(() => (globalThis as { hacked?: unknown }).hacked);

async function search(need: string): Promise<void> {
  await go("Search");
  await page.locator("#need").fill(need);
  await page.locator(".hit").first().waitFor();
}

describe("the console", () => {
  verifies("console:pages", "an agent's work changes the open page", async (context) => {
    needsBrowser(context);
    await go("Sessions");
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await page.locator(".timeline").count()).toBe(0);
    await agent.callTool({ name: "ask", arguments: { query: "list the orders of the shop" } });
    await page.getByText("list the orders of the shop").first().waitFor();
    await agent.callTool({ name: "get", arguments: { routes: [{ route: "shop://tools/clerk-guide" }] } });
    await page.locator(".timeline").getByText("shop://tools/hidden/ledger").waitFor();
  });

  verifies(
    "console:pages",
    "a search shows the answer of the model, why each hit is there, and its cost",
    async (context) => {
      needsBrowser(context);
      await search("delete order");
      const { text } = await shop.gateway.ask({ query: "delete order" }, { principal: clerk });
      expect(await page.locator(".text pre").first().textContent()).toBe(text);
      const first = page.locator(".hits > li").first();
      expect(await first.locator("code").first().textContent()).toBe("shop://tools/order/delete");
      expect(await first.locator(".why").textContent()).toMatch(/words.*meaning.*learned.*delete in .*name/);
      expect(Number(await page.getByTestId("cost").textContent())).toBeGreaterThan(10);
    },
  );

  verifies("console:pages", "a search as another principal shows what that one sees", async (context) => {
    needsBrowser(context);
    await search("audit report with irregular bookings");
    expect(await page.getByText("audit://tools/report").count()).toBe(0);
    await page.getByLabel("With the rights of").selectOption("auditor");
    await page.locator(".hits").getByText("audit://tools/report").waitFor();
    await page.getByLabel("With the rights of").selectOption("clerk");
  });

  verifies(
    "console:pages",
    "a read runs from a form of the schema, and a write only dry",
    async (context) => {
      needsBrowser(context);
      await search("list orders");
      await page.getByRole("button", { name: /shop:\/\/tools\/order\/list/ }).click();
      await page.getByLabel("limit").fill("2");
      await page.getByRole("button", { name: "Read", exact: true }).click();
      await page.locator(".outcome").waitFor();
      expect(await page.locator(".outcome").textContent()).toMatch(/Read.*tokens for the model.*"orders"/s);
      await search("create an order");
      await page.getByRole("button", { name: /shop:\/\/tools\/order\/create/ }).click();
      await page.getByLabel("customer").fill("c1");
      await page.getByRole("button", { name: "Dry run", exact: true }).click();
      await page.locator(".outcome").getByText("Nothing was changed").waitFor();
      expect(shop.calls.made).toEqual([]);
      expect(await page.getByRole("button", { name: /^Run/ }).count()).toBe(0);
    },
  );

  verifies(
    "console:pages",
    "a definition is approved, and a call is approved while it waits",
    async (context) => {
      needsBrowser(context);
      await go("Approvals");
      // Definitions that try to steer a model are not chosen at first.
      const choice = page.getByLabel("Choose hostile://tools/read_notes");
      expect(await choice.isChecked()).toBe(false);
      await choice.check();
      await page.getByRole("button", { name: "Approve 1 chosen" }).click();
      await choice.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Reject hostile://tools/steal" }).click();
      await page.getByRole("button", { name: "Reject hostile://tools/steal" }).waitFor({ state: "detached" });
      const refund = { op: "shop.refund.send", args: { customer: "c7", cents: 5 } };
      const answered = agent.callTool({ name: "exec", arguments: refund });
      await page.getByText("A call waits").waitFor();
      expect(await page.locator(".urgent pre").textContent()).toBe(JSON.stringify(refund.args, null, 2));
      await page.locator(".urgent").getByRole("button", { name: "Approve" }).click();
      expect((await answered).isError ?? false).toBe(false);
      await page.getByText("A call waits").waitFor({ state: "detached" });
    },
  );

  verifies(
    "console:pages",
    "a server restarts, a chain is verified, a trace is followed",
    async (context) => {
      needsBrowser(context);
      await go("Servers");
      await page.getByRole("link", { name: "hostile" }).click();
      await page.getByText(/process \d+/).waitFor();
      expect(await page.locator("main").textContent()).not.toContain("kh_a_secret");
      const before = await page.getByText(/process \d+/).textContent();
      await page.getByRole("button", { name: "Restart hostile" }).click();
      await eventually(async () => {
        expect(await page.getByText(/process \d+/).textContent()).not.toBe(before);
      }, 60_000);
      await go("Audit");
      await page.getByRole("button", { name: "Verify the chain" }).click();
      await page.getByText(/^Intact: \d+ records/).waitFor();
      await page
        .getByRole("button", { name: /^Follow tr_/ })
        .first()
        .click();
      await eventually(async () => {
        const traces = await page.locator("tbody tr td:last-child").allTextContents();
        expect(new Set(traces).size).toBe(1);
      }, 60_000);
    },
  );

  verifies("console:pages", "everything is reached by the keyboard alone", async (context) => {
    needsBrowser(context);
    await go("Overview");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    for (const [key, name] of [
      ["a", "Approvals"],
      ["t", "Settings"],
      ["e", "Sessions"],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { name, level: 1 }).waitFor();
    }
    await page.keyboard.press("/");
    await page.locator("#need:focus").waitFor();
    await page.keyboard.type("create an order");
    await page.locator(".hit").first().waitFor();
    // Out of the field and through the principal's choice to the first hit.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^(Dry run|Read)$/ }).waitFor();
  });

  verifies(
    "console:accessible",
    "every page is clean for axe, light and dark, and fits 360 pixels",
    async (context) => {
      needsBrowser(context);
      for (const [scheme, width] of [
        ["light", 1280],
        ["dark", 1280],
        ["light", 360],
      ] as const) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 800 });
        for (const name of PAGES) {
          if (name === "Search") await search("orders evil");
          else await go(name);
          const place = `${name}, ${scheme}, ${width} pixels`;
          if (width > 360) expect(await axe(page), place).toEqual([]);
          expect(await overflow(page), place).toBeLessThanOrEqual(0);
          await expect.poll(() => page.evaluate(CURRENT_IS_SHOWN), { message: place }).toBe(true);
          // Rows of tables are cards, so that nothing of them has to be scrolled to.
          if (width === 360) expect(await page.evaluate(WIDE_TABLES), place).toEqual([]);
        }
      }
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize({ width: 1280, height: 860 });
    },
  );
});

test("the narrow menu shows at its edges that it goes on, and covers nothing of the head", async (context) => {
  needsBrowser(context);
  await page.setViewportSize({ width: 360, height: 800 });
  await go("Overview");
  const { y } = (await page.getByRole("navigation").boundingBox())!;
  const edges = async (to: "start" | "end") => {
    await page.evaluate(SCROLL_MENU(to));
    const edge = (x: number) => page.screenshot({ clip: { x, y: y + 1, width: 4, height: 2 } });
    return [await edge(0), await edge(356)] as const;
  };
  const [atStart, atEnd] = [await edges("start"), await edges("end")];
  // The edge where the menu ends is plain, on both sides alike.
  expect(atStart[0]).toEqual(atEnd[1]);
  expect(atStart[1]).not.toEqual(atStart[0]);
  expect(atEnd[0]).not.toEqual(atStart[0]);
  const [brand, live] = await Promise.all([
    page.getByRole("link", { name: "Keyhole", exact: true }).boundingBox(),
    page.getByText("Live", { exact: true }).boundingBox(),
  ]);
  expect(brand!.x + brand!.width <= live!.x || brand!.y + brand!.height <= live!.y).toBe(true);
  await page.setViewportSize({ width: 1280, height: 860 });
});

describe("T23", () => {
  verifies(
    ["console:safe", "T23"],
    "text of a hostile server and author runs nowhere and breaks no layout",
    async (context) => {
      needsBrowser(context);
      await agent.callTool({ name: "ask", arguments: { query: HOSTILE } });
      await agent.callTool({
        name: "get",
        arguments: { routes: [{ route: "evil.evil.list" }, { route: "evil://resources/page" }] },
      });
      await agent.callTool({
        name: "exec",
        arguments: { op: HOSTILE.slice(0, 100), args: { [HOSTILE]: HOSTILE } },
      });
      for (const name of PAGES) {
        if (name === "Search") {
          await search(HOSTILE);
          await page.locator(".hit").filter({ hasText: "evil" }).first().click();
          await page.getByRole("button", { name: /^(Dry run|Read)$/ }).click();
          await page.locator(".outcome").waitFor();
        } else await go(name);
        const text = (await page.locator("body").textContent()) ?? "";
        expect([name, await hacked(page)]).toEqual([name, undefined]);
        expect(await page.locator("main img, main script, main style, main iframe").count()).toBe(0);
        for (const width of [360, 1280]) {
          await page.setViewportSize({ width, height: 860 });
          expect(await overflow(page), `${name}, ${width} pixels`).toBeLessThanOrEqual(0);
        }
        expect(text).not.toMatch(/[[\p{Cc}\p{Bidi_Control}]--[\t\n\r]]/v);
        if (["Search", "Approvals", "Sessions", "Documents"].includes(name))
          expect(text).toContain("onerror=");
      }
      expect(errors).toEqual([]);
    },
  );

  verifies(["console:safe", "T23"], "the policy of the page lets no text become code", async (context) => {
    needsBrowser(context);
    const policy = (await fetch(base())).headers.get("content-security-policy") ?? "";
    for (const part of ["default-src 'none'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toMatch(/unsafe|http:|https:|\*/);
    await go("Overview");
    // A script of the page itself, unlike one of the debugger, is bound by the policy.
    const refused = await page.evaluate(TURN_TEXT_INTO_CODE);
    expect(refused).toEqual(["TypeError", "TypeError", "TypeError", "TypeError"]);
    errors.length = 0;
  });

  verifies(
    ["console:safe", "T23"],
    "a page of another origin can neither read nor call nor frame anything",
    async (context) => {
      needsBrowser(context);
      const evil = createServer((_, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>evil</title>");
      });
      await new Promise<void>((done) => evil.listen(0, "127.0.0.1", done));
      const { port } = evil.address() as AddressInfo;
      const other = await browser.newPage();
      const made = shop.calls.made.length;
      const half = await page.evaluate<string>("localStorage.getItem('keyhole-console')");
      // The same site for cookies, another origin for everything else.
      for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
        await other.goto(`http://${host}/`);
        const results = await other.evaluate<string[]>(attack(shop.origin, half));
        expect(results).toHaveLength(7);
        expect(results.filter((result) => result.startsWith("read"))).toEqual([]);
      }
      expect(shop.calls.made.length).toBe(made);
      await other.close();
      evil.close();
    },
  );
});
