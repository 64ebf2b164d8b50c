import { beforeAll, expect, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { chaos, openProgram } from "../threats/program.ts";
import { axe, findChromium, goTo, openConsoleOf } from "./browser.ts";
import { OVERFLOW } from "./in-page.ts";

const chromium = findChromium();

beforeAll(() => buildConsole({ ifChanged: true }));

test("the page of agents makes a key that is shown once, shows its rights, and revokes it", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const program = openProgram();
  const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
  await program.serve("--trust", "--config", config);
  const page = await openConsoleOf(program);
  await goTo(page, "agents", "Agents");
  await page.getByLabel("Name").fill("bot");
  await page.getByLabel("Profile, if not all servers").fill("work");
  await page.getByLabel("Scopes, separated by commas").fill("mail, ops");
  await page.getByLabel("Ends (30d, or a date)").fill("yesterday");
  await page.getByRole("button", { name: "Make the key" }).click();
  await page.getByText(/a time from now, such as 30d/).waitFor();
  await page.getByLabel("Ends (30d, or a date)").fill("30d");
  await page.getByRole("button", { name: "Make the key" }).click();
  await page.getByText(/Key of bot, shown once: kh_/).waitFor();
  const row = page.getByRole("row", { name: /agent:bot#/ });
  await row.getByText("only read").waitFor();
  expect(await row.textContent()).toContain("mail, ops");
  await row.getByRole("cell", { name: "work", exact: true }).waitFor();
  expect((await program.keyhole("agents")).out).toContain(
    "bot  only reads, profile work, scopes: mail ops, expires",
  );
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 860 });
  expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
  await page.getByRole("button", { name: "Revoke the key of bot", exact: true }).click();
  await page.getByRole("button", { name: "Revoke the key of bot now" }).click();
  await row.waitFor({ state: "detached" });
  expect((await program.keyhole("agents")).out).toContain("No agents.");
});
