import { resolve } from "node:path";
import { expect } from "vitest";
import { inTerminals } from "./chat-kit.ts";

inTerminals(
  "a server is approved inside the chat: its program, then its tools with a choice for each",
  async (openPlace) => {
    const tracker = { command: process.execPath, args: [resolve("test/tracker-upstream.ts")] };
    const { open } = await openPlace(() => ({ text: "Hello." }), {
      settings: { mcpServers: { tracker } },
    });
    const terminal = open();
    await terminal.sees("asks (⇧Tab)");
    await terminal.sees("Server tracker waits for you. /mcp approve tracker shows it.");
    await terminal.send("/mcp approve");
    await terminal.sees("May tracker start?");
    // Text that is typed before the question takes keys belongs to the draft.
    terminal.type("tab");
    await terminal.answers("Yes, let tracker start");
    await terminal.sees("tracker: 4 tools");
    await terminal.sees("Enter answer · Esc later");
    terminal.press("x");
    await terminal.sees("[✗] delete_issue");
    // A low terminal has the suspicious tool on its next page.
    terminal.press("PageDown");
    await terminal.sees("! It tells a model to ignore its instructions.");
    await terminal.answers("Approve 2, reject 1, 1 later");
    await terminal.sees("tracker: 2 approved, 1 rejected, 1 waits.");
    expect(terminal.screen()).toContain("tab");
    // An approval counts without a restart.
    for (const _ of "tab") terminal.press("BSpace");
    await terminal.send("/mcp");
    await terminal.sees("works,");
  },
);
