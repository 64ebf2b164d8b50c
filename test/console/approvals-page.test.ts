import { expect, onTestFinished, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { findChromium, openBrowser } from "./browser.ts";
import { serveShop } from "./console-kit.ts";

const chromium = findChromium();

test("T9: the page of approvals cuts no change, and spells out hidden characters and lookalikes", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  await buildConsole({ ifChanged: true });
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const browser = await openBrowser(chromium);
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const changes = Array.from({ length: 30 }, (_, at) => ({
    path: `/p${at}`,
    before: 1,
    after: `change ${at}.`,
  }));
  const definition = {
    ...{
      route: "x://tools/p\u0430y",
      state: "changed",
      hash: "h",
      program: "p",
      effect: "writes",
      tokens: 5,
    },
    ...{ definition: { description: "Pays.\nIn two lines." }, warnings: ["It hides text from the reader."] },
  };
  const args = { "sum\u202e": 1, to: "p\u0430ypal" };
  const call = { id: "1", op: "shop.pay", args, why: "writes", principal: "ann", until: Date.now() + 60_000 };
  const program = { hash: "p", lines: ["runs     sh -c 'p\u0430y'"] };
  const server = { server: "x", id: "mcp:x", program, definitions: [{ ...definition, changes }] };
  const json = { servers: [server], more: 0, calls: [call] };
  await page.route("**/api/approvals", (route) => route.fulfill({ json }));
  await page.goto(shop.http.consoleLink);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await page.goto(`${shop.origin}/console/#/approvals`);
  await page.getByText("A call waits").waitFor();
  const text = (await page.locator("main").textContent()) ?? "";
  for (const { after } of changes) expect(text).toContain(after);
  expect(text).toContain("x://tools/p\\u0430y");
  expect(text).toContain("runs     sh -c 'p\\u0430y'");
  expect(text).toContain("It hides text from the reader.");
  expect(JSON.parse(/\{[^}]*"to"[^}]*\}/.exec(text)?.[0] ?? "")).toEqual(args);
  expect(text).toContain('"p\\u0430ypal"');
  expect(text).not.toMatch(/[\u202e\u0430]/);
});
