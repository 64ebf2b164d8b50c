// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of configs.
import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, type TestContext, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { verifies } from "../claims.ts";
import { findChromium, openBrowser } from "../console/browser.ts";
import { type Served, serveTeam } from "./served.ts";

const CLIENT = { clientId: "keyhole-console", clientSecret: "console secret" };

const chromium = findChromium();

/** A gateway whose console is a client of the issuer. */
function serveWithConsole(): Promise<Served> {
  return serveTeam({
    issuer: (origin) => ({
      people: { ada: { groups: ["sre"] }, bob: { groups: ["sales"] }, eve: { groups: ["others"] } },
      clients: [
        {
          client_id: CLIENT.clientId,
          client_secret: CLIENT.clientSecret,
          redirect_uris: [`${origin}/console/callback`],
        },
      ],
    }),
    people: { console: { clientId: CLIENT.clientId, clientSecret: "${CONSOLE_SECRET}" } },
    env: { CONSOLE_SECRET: CLIENT.clientSecret },
  });
}

beforeAll(async () => void (await buildConsole({ ifChanged: true })));

function needsBrowser({ skip }: TestContext): void {
  if (chromium) return;
  console.warn("skipped: no Chromium on this machine; apt-get install chromium");
  skip();
}

verifies(
  ["people:console", "console:safe"],
  "in a browser, people log in at the issuer and log out; admins run the gateway",
  async (context) => {
    needsBrowser(context);
    const served = await serveWithConsole();
    expect(served.printed()).toContain(`Console: ${new URL("/console/", served.url)}`);
    expect(served.printed()).not.toContain("opens once");

    const ada = await browse(served);
    await ada.getByRole("heading", { name: "You are not logged in" }).waitFor();
    await logIn(ada, "ada");
    await ada.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    expect(await ada.getByRole("navigation", { name: "Pages" }).getByRole("link").count()).toBe(11);
    expect(new URL(ada.url()).hash).not.toContain("in/");
    await ada.getByRole("link", { name: "Search", exact: true }).click();
    await ada.locator("#as").selectOption("profile:crm");
    await ada.locator("#need").fill("list orders");
    await ada.getByText("list_orders").first().waitFor();
    await ada.locator("#as").selectOption("group:sre");
    await ada.locator("#need").fill("list orders and tickets");
    await ada.getByText("list_tickets").first().waitFor();
    expect(await ada.getByText("list_orders").count()).toBe(0);
    await ada.getByRole("button", { name: "Log out" }).click();
    await ada.getByRole("heading", { name: "You are not logged in" }).waitFor();
    await ada.reload();
    await ada.getByRole("heading", { name: "You are not logged in" }).waitFor();
  },
);

verifies(
  "people:console",
  "in a browser, people without admin see their own, and people of no group nothing",
  async (context) => {
    needsBrowser(context);
    const served = await serveWithConsole();
    const bob = await browse(served);
    await logIn(bob, "bob");
    await bob.getByRole("heading", { name: "Search", level: 1 }).waitFor();
    expect(await bob.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents()).toEqual([
      "Search",
      "Sessions",
    ]);
    await bob.getByText("only reads").waitFor();
    expect(await bob.locator("#as option").allTextContents()).toEqual([`${served.issuer.url}#bob`]);
    await bob.locator("#need").fill("list orders");
    await bob.getByText("list_orders").first().waitFor();
    const statuses = await bob.evaluate(() => {
      const headers = { "x-keyhole-console": localStorage.getItem("keyhole-console") ?? "" };
      const paths = ["/api/overview", "/api/settings", "/api/audit", "/api/approvals", "/api/me"];
      return Promise.all(paths.map(async (path) => (await fetch(path, { headers })).status));
    });
    expect(statuses).toEqual([403, 403, 403, 403, 200]);

    const eve = await browse(served);
    await logIn(eve, "eve");
    await eve.getByText("none of your groups has rights here").waitFor();
  },
);

test("T23, people:console: a login counts only in the browser that began it, once, and for this console", async () => {
  const served = await serveWithConsole();
  const origin = new URL(served.url).origin;
  const begin = async () => {
    const response = await fetch(`${origin}/console/login`, { redirect: "manual" });
    const cookie = response.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    return { to: response.headers.get("location") ?? "", cookie };
  };
  const finish = (back: URL, cookie: string) => fetch(back, { redirect: "manual", headers: { cookie } });

  const mine = await begin();
  const back = await served.issuer.login(mine.to, "ada");
  const query = new URL(mine.to).searchParams;
  expect(query.get("code_challenge_method")).toBe("S256");

  expect((await finish(back, "")).status).toBe(403);
  expect((await finish(back, (await begin()).cookie)).status).toBe(403);
  const changed = new URL(back);
  changed.searchParams.set("iss", "https://evil.example");
  expect((await finish(changed, mine.cookie)).status).toBe(403);
  // A code of one login is worth nothing in another: neither verifier nor nonce fit.
  const other = await begin();
  const crossed = new URL(back);
  crossed.searchParams.set("state", new URL(other.to).searchParams.get("state") ?? "");
  expect((await finish(crossed, other.cookie)).status).toBe(403);

  const again = await begin();
  const opened = await finish(await served.issuer.login(again.to, "ada"), again.cookie);
  expect(opened.status).toBe(303);
  const cookie = opened.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict/);
  const half = /#\/in\/(\S+)$/.exec(opened.headers.get("location") ?? "")?.[1] ?? "";
  const ask = (headers: Record<string, string>) =>
    fetch(`${origin}/api/me`, { headers }).then(({ status }) => status);
  const pair = cookie.split(";", 1)[0] ?? "";
  expect(await ask({ cookie: pair, "x-keyhole-console": half })).toBe(200);
  expect(await ask({ cookie: pair, "x-keyhole-console": "made-up" })).toBe(401);
  expect(await ask({ "x-keyhole-console": half })).toBe(401);
  expect(await ask({ cookie: pair })).toBe(401);
});

verifies(
  "T1",
  "an ID token for the console does not call the gateway, and no one-time link opens the console",
  async () => {
    const served = await serveWithConsole();
    const idToken = await served.issuer.sign({ aud: CLIENT.clientId, sub: "ada", groups: ["sre"] });
    const response = await fetch(served.url, {
      method: "POST",
      headers: { authorization: `Bearer ${idToken}` },
    });
    expect(response.status).toBe(401);
    const { origin } = new URL(served.url);
    const admin = await served.issuer.sign({ aud: served.url, sub: "ada", groups: ["sre"] });
    const link = await fetch(`${origin}/api/console/link`, {
      method: "POST",
      headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
      body: "{}",
    });
    expect(await link.json()).toEqual({ url: `${origin}/console/` });
  },
);

async function browse({ url }: Served): Promise<Page> {
  const browser = await openBrowser(chromium!);
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(new URL("/console/", url).href);
  return page;
}

async function logIn(page: Page, person: string): Promise<void> {
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByRole("link", { name: `Log in as ${person}` }).click();
}
