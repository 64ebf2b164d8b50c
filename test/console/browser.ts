import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import axeCore from "axe-core";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { Program } from "../threats/program.ts";
import type { ServedShop } from "./console-kit.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The Chromium of this machine. Undefined if there is none. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
}

/** Opens a browser without windows and with a profile of its own, which goes away with it. */
export async function openBrowser(executablePath: string): Promise<BrowserContext> {
  const profile = mkdtempSync(join(tmpdir(), "keyhole-browser-"));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: FLAGS,
    // Browsers of people keep pages that were left, with their connections.
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
    headless: true,
    viewport: { width: 1280, height: 860 },
  });
  browser.once("close", () => rmSync(profile, { recursive: true, force: true, maxRetries: 3 }));
  return browser;
}

/** A browser with the console open by its link, until the test ends. */
export async function openPage({
  http,
}: {
  readonly http: Pick<ServedShop["http"], "consoleLink">;
}): Promise<Page> {
  const browser = await openBrowser(findChromium()!);
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(http.consoleLink);
  await page.getByText("Live", { exact: true }).waitFor();
  return page;
}

/** A browser with the console of a program's daemon open, until the test ends. */
export async function openConsoleOf({ keyhole }: Pick<Program, "keyhole">): Promise<Page> {
  const link = /http:\S+/.exec((await keyhole("console")).out)?.[0] ?? "";
  return openPage({ http: { consoleLink: link } });
}

/** Opens a page of the console by its address. */
export async function goTo(page: Page, path: string, title: string): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/console/#/${path}`);
  await page.getByRole("heading", { name: title, level: 1 }).waitFor();
  await page.locator("main [aria-busy]").first().waitFor({ state: "detached" });
}

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds wrong with a page. */
export async function axe(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the policy of the page does not bind.
  await page.evaluate(axeCore.source);
  return page.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } }
    ).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
