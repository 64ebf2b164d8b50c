import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chatPlace, noTerminal } from "./chat-kit.ts";

test.skipIf(noTerminal)(
  "a folder is trusted inside the chat: shown, chosen, and in use without a restart",
  async () => {
    const { open, model, folder } = await chatPlace(
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
