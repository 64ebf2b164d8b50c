import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ModelScript } from "../src/testing/scripted-model.ts";
import { inTerminals } from "./chat-kit.ts";

const NEW = "<!-- two --> می‌خواهم 👩‍👩‍👧";

const script: ModelScript = ({ messages }) => {
  const last = messages.at(-1)!;
  if (messages.some(({ text }) => text.includes("You condense a conversation")))
    return { text: "Goal: a.ts." };
  if (last.role === "tool")
    return {
      text: `Tool: ${/plan mode|says: [\w ]+|"replaced":1/.exec(last.text)?.[0] ?? last.text}.`,
    };
  if (last.text.includes("change"))
    return { calls: [{ name: "edit", args: { path: "a.ts", oldText: "one", newText: NEW } }] };
  if (last.text.includes("count")) {
    return {
      calls: [
        { name: "shell", args: { command: "env printf 'tick-%s\\n' 1; sleep 2; printf 'tick-%s\\n' 2" } },
      ],
    };
  }
  return { text: `Answer: ${last.text}` };
};

inTerminals(
  "the diff before an edit, another wish, modes, live output, undo, the context and its summary",
  async (openPlace) => {
    const { folder, open, model } = await openPlace(script, { files: { "a.ts": "one\n" } });
    const file = () => readFileSync(join(folder, "a.ts"), "utf8");
    const terminal = open();
    const { send } = terminal;
    await terminal.sees("asks (⇧Tab)");

    // The tools for files and commands are there from the first request on.
    await send("hello");
    await terminal.sees("Answer: hello");
    expect(model.requests[0]!.tools).toEqual(expect.arrayContaining(["read", "search", "edit", "shell"]));

    // The whole diff is shown before the edit, comments and joiners included; "do this instead" reaches the model.
    await send("change it");
    await terminal.sees("Allow fs-write?");
    await terminal.sees("↑↓ and Enter answer");
    terminal.press("NPage");
    await terminal.sees("+<!-- two --> می‹U+200C›خواهم");
    terminal.type("use three");
    await terminal.sees("no, do what the draft says");
    await terminal.sees("↑↓ and Enter answer");
    terminal.press("Up");
    await terminal.sees("› no, do what the draft says");
    terminal.press("Enter");
    await terminal.sees("Tool: says: use three");
    expect(file()).toBe("one\n");

    // Edits are accepted by mode, and a turn can be undone.
    terminal.press("BTab");
    await terminal.sees("accepts edits (⇧Tab)");
    await send("change it now");
    await terminal.sees("✓ edit a.ts");
    await expect.poll(file, { timeout: 60_000 }).toBe(`${NEW}\n`);
    await terminal.sees('Tool: "replaced":1');
    expect(terminal.screen()).toContain("✓ edit a.ts");
    await send("/undo");
    await terminal.sees("Restored");
    expect(file()).toBe("one\n");

    // Plan mode changes nothing and asks nothing.
    terminal.press("BTab");
    await terminal.sees("plans, changes nothing (⇧Tab)");
    await send("change it still");
    await terminal.sees("Tool: plan mode");
    expect(file()).toBe("one\n");
    terminal.press("BTab");
    await terminal.sees("asks (⇧Tab)");

    // Output shows while the command runs.
    await send("count please");
    await terminal.sees("↑↓ and Enter answer");
    terminal.press("Down");
    await terminal.sees("› yes, once");
    terminal.press("Enter");
    await terminal.sees("└ tick-1");
    await terminal.sees("tick-2");

    await send("/context");
    await terminal.sees("tokens in the next request");
    await send("/compact");
    await terminal.sees("The model summarized them");
    await send("still there?");
    await terminal.sees("Answer: still there?");
    expect(model.requests.at(-1)!.messages[1]!.text).toContain("Goal: a.ts.");
  },
);
