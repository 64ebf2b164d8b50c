import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { openGrants } from "../../src/core/access/grants.ts";
import { createWaitingCalls } from "../../src/core/access/waiting-calls.ts";
import type { ServerProgram } from "../../src/core/nouns/server-program.ts";
import { createMemoryRecords } from "../../src/core/storage/records.ts";
import { faceApiOf } from "../../src/gateway/face-api.ts";
import { fromConfig, fromMcpConfig } from "../../src/sources/index.ts";
import { serveOAuth } from "../oauth-server.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { eventually } from "../upstream-kit.ts";
import { axe, findChromium, goTo, openPage } from "./browser.ts";
import { serveShop } from "./console-kit.ts";
import { NOTE_NOTIFICATIONS, NOTIFIED } from "./in-page.ts";

const chromium = findChromium();

beforeAll(() => buildConsole({ ifChanged: true }));

test("a server that Keyhole reads by itself waits on the page of approvals, and is read after the yes", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const given = new Set<string>();
  const consents = {
    isGiven: ({ hash }: ServerProgram) => given.has(hash),
    give: async (programs: readonly ServerProgram[]) => {
      for (const { hash } of programs) given.add(hash);
    },
  };
  const folder = join(temporaryFolder(), "docs");
  mkdirSync(join(folder, "fragments"), { recursive: true });
  writeFileSync(join(folder, "fragments/parcels.md"), "# Parcels\n\nHow parcels are packed.\n");
  const sources = fromConfig({ servers: { guide: { library: folder } } }, { mayStart: consents.isGiven });
  const shop = await serveShop({ sources }, { consents });
  onTestFinished(() => shop.close());
  const page = await openPage(shop);
  await goTo(page, "approvals", "Approvals");
  await page.getByRole("button", { name: "Show what guide runs or reaches" }).click();
  expect(await page.getByRole("region", { name: "Program of guide" }).textContent()).toContain(folder);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Let guide start" }).click();
  await page.getByText("Nothing waits").waitFor();
  await eventually(async () =>
    expect((await shop.gateway.ask({ query: "how parcels are packed" })).text).toContain("parcels"),
  );
});

test("servers and tools that wait say so on every page that shows them, and not that they fail", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const consents = { isGiven: ({ runs }: ServerProgram) => "command" in runs, give: async () => {} };
  const chaos = { command: process.execPath, args: ["src/testing/chaos-upstream.ts"] };
  const mcpServers = { chaos, far: { url: "http://127.0.0.1:9/mcp" } };
  const shop = await serveShop(
    { sources: fromConfig({ mcpServers }, { mayStart: consents.isGiven }) },
    { consents },
  );
  onTestFinished(() => shop.close());
  const page = await openPage(shop);
  await page.getByRole("link", { name: "1 server waits for you" }).waitFor();
  expect(await page.getByText(/servers? fail/).count()).toBe(0);
  expect(await page.getByText("has to type").count()).toBe(0);
  await goTo(page, "servers", "Servers");
  const row = page.getByRole("row", { name: /^chaos/ });
  await row.getByText(/\d+ definitions wait for your yes/).waitFor();
  await page.getByRole("row", { name: /^far/ }).getByText("waits for your yes").waitFor();
  await row.getByRole("link", { name: "chaos" }).click();
  await page.getByRole("heading", { name: "0 tools in use" }).waitFor();
  await page.getByRole("link", { name: /\d+ wait for your yes/ }).click();
  await page.getByRole("button", { name: /^Approve all \d+/ }).click();
  await goTo(page, "servers/mcp:chaos", "chaos");
  await page.getByRole("heading", { name: /^[1-9]\d* tools in use/ }).waitFor();
});

test("a person logs in to a server and out again on its page, and approvals name it while it waits", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "mail", version: "1.0.0" });
    server.registerTool("send_mail", { description: "Sends a mail." }, () => ({ content: [] }));
    return server;
  });
  const oauth = await serveOAuth((request) => handler.fetch(request));
  onTestFinished(() => oauth.close());
  const sources = fromMcpConfig({ mcpServers: { mail: { url: oauth.url } } }, { trusted: true });
  const shop = await serveShop({ sources });
  onTestFinished(() => shop.close());
  const page = await openPage(shop);
  await goTo(page, "approvals", "Approvals");
  await page.getByRole("heading", { name: "mail" }).waitFor();
  await page.getByRole("link", { name: "To its page" }).click();
  await page.getByText("waits for a login").waitFor();
  await page.getByRole("button", { name: "Log in to mail" }).click();
  const login = page.getByRole("link", { name: `Open the login of ${new URL(oauth.url).host}` });
  // The issuer of the test agrees at once, and sends the browser back.
  await Promise.all([page.waitForEvent("popup"), login.click()]);
  await page.getByText("runs", { exact: true }).waitFor();
  await page.getByRole("link", { name: "send_mail" }).waitFor();
  expect(await login.count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Log out of mail" }).click();
  await page.getByText("waits for a login").waitFor();
});

test("a call whose client could not wait is on the page, and runs once after the yes", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  faceApiOf(shop.gateway).keepQuestions(createWaitingCalls(openGrants(createMemoryRecords(), "call")));
  const refund = { op: "shop.refund.send", args: { customer: "c1", cents: 5 } };
  const send = async () => (await shop.as("clerk", "/api/exec", refund)).json();
  await send();
  expect(shop.calls.made).toEqual([]);
  const page = await openPage(shop);
  await goTo(page, "approvals", "Approvals");
  expect(await page.getByRole("region", { name: "Arguments" }).textContent()).toContain('"cents": 5');
  expect(await page.getByRole("link", { name: /^Approvals/ }).textContent()).toContain("1");
  expect(await page.title()).toBe("1 call waits · Approvals · Keyhole");
  await page.getByRole("button", { name: "Approve for the next time" }).click();
  await page.getByText("Nothing waits").waitFor();
  expect(await send()).toMatchObject({ ok: true });
  expect(shop.calls.made).toHaveLength(1);
});

test("a call whose client could not wait can be declined, and its agent is told so once", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  faceApiOf(shop.gateway).keepQuestions(createWaitingCalls(openGrants(createMemoryRecords(), "call")));
  const refund = { op: "shop.refund.send", args: { customer: "c1", cents: 5 } };
  const send = async () => (await shop.as("clerk", "/api/exec", refund)).json();
  await send();
  const page = await openPage(shop);
  await goTo(page, "approvals", "Approvals");
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByText("Nothing waits").waitFor();
  const { ok, error } = (await send()) as { ok: boolean; error: { code: string; message: string } };
  expect({ ok, code: error.code }).toEqual({ ok: false, code: "APPROVAL_DECLINED" });
  expect(error.message).toContain("declined");
  expect(shop.calls.made).toEqual([]);
  // Another try asks again.
  void send();
  await page.getByText("A call waits").waitFor();
});

test("a call that waits is notified by the system only if the person has asked for it", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const shop = await serveShop();
  onTestFinished(() => shop.close());
  const page = await openPage(shop);
  await page.context().grantPermissions(["notifications"], { origin: shop.origin });
  await page.context().addInitScript(NOTE_NOTIFICATIONS);
  await page.reload();
  await page.getByText("Live", { exact: true }).waitFor();
  const ask = (cents: number) =>
    shop.as("clerk", "/api/exec", { op: "shop.refund.send", args: { customer: "c1", cents } });
  const first = ask(5);
  await goTo(page, "approvals", "Approvals");
  await page.getByRole("button", { name: "Approve" }).click();
  await first;
  expect(await page.evaluate(NOTIFIED)).toEqual([]);
  await page.getByRole("button", { name: "Notify me of calls that wait" }).click();
  await page.getByRole("button", { name: "Stop notifying me of calls" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await goTo(page, "overview", "Overview");
  const second = ask(6);
  await eventually(async () =>
    expect(await page.evaluate(NOTIFIED)).toEqual(["asked", "A call waits for you; clerk: shop.refund.send"]),
  );
  await goTo(page, "approvals", "Approvals");
  await page.getByRole("button", { name: "Approve" }).click();
  expect(await (await second).json()).toMatchObject({ ok: true });
});
