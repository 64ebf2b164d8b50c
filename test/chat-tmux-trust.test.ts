import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { inTerminals } from "./chat-kit.ts";

inTerminals(
  "a folder is trusted inside the chat: shown, chosen, and in use without a restart",
  async (openPlace) => {
    const { open, model, folder } = await openPlace(
      ({ messages }) => ({ text: `Answer: ${messages.at(-1)!.text}` }),
      {
        files: {
          "AGENTS.md": "Say ahoy to everybody.",
          ".keyhole/settings.json": JSON.stringify({
            hooks: [{ on: "prompt", command: "touch hook-ran" }],
          }),
          ".keyhole/commands/greet.md": "Greet $1 warmly.",
        },
      },
    );
    const terminal = open();
    await terminal.sees("Trust this folder as it is now?");
    await terminal.sees("AGENTS.md: is read to the model");
    await terminal.sees("greet.md: is read to the model");
    await terminal.sees("settings.json: sets permissions");
    // Enter alone belongs to the draft, and Esc is a no.
    terminal.press("Enter");
    await terminal.sees("↑↓ and Enter answer");
    terminal.press("Escape");
    await terminal.sees("Not trusted: none of these files is used.");
    await terminal.send("hello");
    await terminal.sees("Answer: hello");
    expect(JSON.stringify(model.requests.at(-1))).not.toContain("ahoy");
    expect(existsSync(join(folder, "hook-ran"))).toBe(false);

    terminal.press("BTab");
    await terminal.sees("accepts edits (⇧Tab)");
    await terminal.send("/trust");
    await terminal.sees("↑↓ and Enter answer");
    terminal.press("Down", "Down");
    await terminal.sees("› yes, trust it");
    terminal.press("Enter");
    await terminal.sees("Trusted. The files of this folder are in use from now on.");
    expect(terminal.screen()).toContain("accepts edits (⇧Tab)");
    await terminal.send("/greet Ada");
    await terminal.sees("Answer: Greet Ada warmly.");
    const last = JSON.stringify(model.requests.at(-1));
    expect(last).toContain("Say ahoy to everybody.");
    // The conversation goes on.
    expect(last).toContain("Answer: hello");
    expect(existsSync(join(folder, "hook-ran"))).toBe(true);
  },
);

inTerminals(
  "always holds in a folder that was refused trust, and is kept with the person",
  async (openPlace) => {
    const { open, folder, home } = await openPlace(
      ({ messages }) => {
        const { role, text } = messages.at(-1)!;
        if (role === "tool") return { text: `Tool: ${text}.` };
        return { calls: [{ name: "shell", args: { command: text } }] };
      },
      { files: { "AGENTS.md": "Be kind.", "say.mjs": "console.log('said', process.argv[2]);" } },
    );
    const enter = async () => {
      const terminal = open();
      await terminal.sees("Trust this folder as it is now?");
      await terminal.sees("↑↓ and Enter answer");
      terminal.press("Escape");
      await terminal.sees("Not trusted");
      await terminal.send("node say.mjs one");
      return terminal;
    };
    const first = await enter();
    await first.sees("yes, always");
    await first.sees("or a digit");
    first.press("3");
    await first.sees("Tool: said one");
    const { permissions } = JSON.parse(readFileSync(join(home, ".keyhole/settings.json"), "utf8"));
    expect(permissions).toEqual({ folders: { [folder]: ["shell-run(node say.mjs one)"] } });
    expect(existsSync(join(folder, ".keyhole"))).toBe(false);
    first.press("C-c", "C-c");
    await first.ends();
    await (await enter()).sees("Tool: said one");
  },
);
