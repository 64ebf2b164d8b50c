import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../src/program/clients/edit-config.ts";
import type { FormatName } from "../src/program/clients/formats/format.ts";
import { readSettingsFile } from "../src/program/open/read-settings-file.ts";
import { GROUPS } from "../src/program/program.ts";
import { docBlocks } from "./doc-blocks.ts";
import { typeBlocks } from "./doc-commands.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Languages of blocks: code that is run or read here, and text that is neither. */
const CODE = ["ts", "sh", "json", "jsonc", "toml", "yaml"];
const TEXT = ["text", "markdown"];
/** Pages whose configs are those of other programs, generated from the code that writes them. */
const OTHER_CONFIGS = "docs/clients.md";

/** The longest page types twenty commands, which takes minutes on a machine that does much else. */
const TYPING_MS = 300_000;

const blocks = docBlocks();
const placeOf = ({ page, line }: { page: string; line: number }) => `${page}:${line}`;

test("every block has a language that says how it is checked", () => {
  const unclear = blocks.filter(({ language }) => ![...CODE, ...TEXT].includes(language));
  expect(unclear.map(placeOf)).toEqual([]);
});

test("blocks that nothing runs say why", () => {
  const skipped = blocks.filter(({ notRun }) => notRun !== undefined);
  for (const block of skipped) console.info(`${placeOf(block)} is not run: ${block.notRun}`);
  expect(skipped.filter(({ language }) => !["ts", "sh"].includes(language)).map(placeOf)).toEqual([]);
  const cited = skipped.flatMap(({ notRun = "" }) => notRun.match(/\b[\w/.-]+\.ts\b/g) ?? []);
  expect(cited.filter((file) => !existsSync(file))).toEqual([]);
});

test("every TypeScript block compiles and runs", async () => {
  const child = spawn(process.execPath, ["scripts/run-doc-examples.ts", "pages"]);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const code = await new Promise((done) => child.on("close", done));
  expect(code, output).toBe(0);
});

describe("every config in a block is read by the program", () => {
  const configs = blocks.filter(({ language }) => ["json", "jsonc", "toml", "yaml"].includes(language));
  test.each(configs.map((block) => [placeOf(block), block] as const))("%s", async (_, block) => {
    if (block.page === OTHER_CONFIGS) {
      expect(JSON.stringify(await readConfig(block.language as FormatName, block.code))).toContain("keyhole");
      return;
    }
    const file = join(temporaryFolder(), "settings.json");
    writeFileSync(file, block.code);
    const read = await readSettingsFile(file);
    expect(read, JSON.stringify(read)).toMatchObject({ state: "read" });
  });
});

describe.concurrent("every command of a page can be typed, in its order", () => {
  const typed = Map.groupBy(
    blocks.filter(({ language, notRun }) => language === "sh" && notRun === undefined),
    ({ page }) => page,
  );
  test.each([...typed])("%s", { timeout: TYPING_MS }, async (page, commands) => {
    const { code, output } = await typeBlocks(commands);
    expect(code, output).toBe(0);
    for (const line of promisedLines(page)) expect(output).toContain(line);
  });

  test("every command of the program is typed on a page", () => {
    const pages = [...typed.values()].flat().map(({ code }) => code);
    const untyped = commandNames().filter((name) => !pages.some((code) => code.includes(`keyhole ${name}`)));
    // A login needs a browser: test/upstream-logins.test.ts logs in and out.
    expect(untyped).toEqual(["login", "logout"]);
  });
});

function commandNames(): string[] {
  return Object.values(GROUPS)
    .flat()
    .map(({ name }) => name);
}

/** The tutorial shows output below the commands that print it. */
function promisedLines(page: string): string[] {
  if (page !== "docs/tutorial.md") return [];
  const shown = blocks.filter((block) => block.page === page && block.language === "text");
  return shown.flatMap(({ code }) => code.trimEnd().split("\n"));
}
