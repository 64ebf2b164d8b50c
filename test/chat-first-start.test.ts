import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import { inTerminals } from "./chat-kit.ts";
import { serveModelLists } from "./model-list-server.ts";
import { programEnv } from "./program-env.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { openTerminal } from "./tmux.ts";

inTerminals(
  "the first start is answered with arrows, and a wrong word is asked again",
  async (_openPlace, size) => {
    const home = temporaryFolder();
    const command = [process.execPath, resolve("src/program/main.ts"), "chat"];
    const terminal = openTerminal(command, { folder: temporaryFolder(), env: programEnv(home), size });
    await terminal.sees("› openai");
    terminal.type("locl");
    await terminal.sees("nothing fits");
    terminal.press("Enter");
    await terminal.sees("nothing fits");
    terminal.press("C-u");
    await terminal.sees("› openai");
    for (let at = 0; at < 9 && !terminal.screen().includes("› local"); at += 1) {
      const before = terminal.screen();
      terminal.press("Down");
      await expect.poll(terminal.screen, { timeout: 20_000 }).not.toBe(before);
    }
    terminal.press("Enter");
    await terminal.sees("Model of local:");
    terminal.type("phi4");
    await terminal.sees("› phi4");
    terminal.press("Enter");
    await terminal.sees("asks (⇧Tab) · local phi4");
    expect(JSON.parse(readFileSync(join(home, ".keyhole/settings.json"), "utf8"))).toEqual({
      providers: { default: "local", local: { model: "phi4" } },
    });
  },
);

inTerminals(
  "a model of a provider without a key asks for it, and shows and logs it nowhere",
  async (openPlace) => {
    const lists = await serveModelLists(["our-own-model"]);
    const { home, open } = await openPlace(() => ({ text: "Yes." }), {
      env: { OPENAI_BASE_URL: `${lists.url}/v1` },
    });
    const terminal = open();
    await terminal.sees("asks (⇧Tab)");
    await terminal.send("/model openai/our-own-model");
    await terminal.sees("Key of openai:");
    terminal.press("Escape");
    await terminal.sees("The provider openai is not configured: it has no key.");
    await terminal.sees("asks (⇧Tab) · local scripted");
    await terminal.send("/model openai/our-own-model");
    await terminal.sees("Key of openai:");
    terminal.type("go");
    await terminal.sees("› ••");
    terminal.paste("od");
    await terminal.sees("› ••••");
    terminal.press("Enter");
    await terminal.sees("The model is openai our-own-model.");
    expect(terminal.screen()).not.toContain("good");
    expect(lists.requests.at(-1)?.headers.authorization).toBe("Bearer good");
    const settings = JSON.parse(readFileSync(join(home, ".keyhole/settings.json"), "utf8"));
    expect(settings.providers.openai.apiKey).toBe(`\${secret:openai}`);
    const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const holding = files.filter(({ parentPath, name }) =>
      readFileSync(join(parentPath, name), "latin1").includes('"good"'),
    );
    expect(holding.map(({ name }) => name.replace(/-wal$/, ""))).toEqual(["secrets.db"]);
  },
);
