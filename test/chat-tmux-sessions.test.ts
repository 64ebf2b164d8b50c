import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { inTerminals } from "./chat-kit.ts";
import { DOT_PNG } from "./dot-png.ts";

inTerminals(
  "typed lines, conversations and their titles outlive the chat, and two chats do not share one",
  async (openPlace) => {
    const { open, folder, model } = await openPlace(({ messages }) => ({
      text: `Answer: ${messages.at(-1)!.text}`,
    }));
    const first = open();
    await first.sees("asks (⇧Tab)");
    await first.send("alpha question");
    await first.sees("Answer: alpha question");
    await first.send("/rename The alpha talk");
    await first.sees("The conversation is called The alpha talk.");
    await first.send("/export talk.md");
    await first.sees("Written to");
    expect(readFileSync(join(folder, "talk.md"), "utf8")).toBe(
      "## Person\n\nalpha question\n\n## Keyhole\n\nAnswer: alpha question\n",
    );

    // The conversation is open in another process, so that -c starts a new one and says so.
    const second = open("--continue");
    await second.sees("asks (⇧Tab)");
    // Up and Ctrl-R walk through the lines of earlier chats.
    second.press("Up");
    await second.sees("› /export talk.md");
    second.press("C-u");
    await expect.poll(second.screen).not.toContain("/export");
    second.press("C-r");
    await second.sees("Sent before:");
    second.type("alpha q");
    await second.sees("› alpha question");
    second.press("Enter");
    await second.sees("› alpha question");
    second.press("Enter");
    await second.sees("is open in another process.");
    await second.sees("This is a new one.");
    await second.sees("Answer: alpha question");
    expect(model.requests.at(-1)!.messages.filter(({ role }) => role === "user")).toHaveLength(1);

    first.press("C-c");
    first.press("C-c");
    await first.ends();
    await second.send("/resume");
    await second.sees("Conversation:");
    await second.sees("The alpha talk");
    second.type("the alpha talk");
    await second.sees("Conversation: the alpha talk");
    second.press("Enter");
    await second.sees("Resumed.");
    await second.send("and now?");
    await second.sees("Answer: and now?");
    const users = model.requests.at(-1)!.messages.filter(({ role }) => role === "user");
    expect(users.map(({ text }) => text)).toEqual(["alpha question", "and now?"]);
  },
);

inTerminals("images go to the model, and a secret that a provider echoes is hidden", async (openPlace) => {
  const key = "sk-test-4f9d8c7b6a5e4d3c2b1a";
  const { open, model, home } = await openPlace(
    ({ messages }) => {
      const last = messages.at(-1)!;
      if (last.role === "tool") return { text: "I see it." };
      if (last.text.includes("look")) return { calls: [{ name: "read", args: { path: "dot.png" } }] };
      return { text: `Your key is ${key}.` };
    },
    { files: { "dot.png": DOT_PNG }, env: { OPENAI_API_KEY: key } },
  );
  const terminal = open();
  await terminal.sees("asks (⇧Tab)");
  await terminal.send("what is @dot.png");
  await terminal.sees("dot.png: image/png, 1 × 1, 1 KB");
  await terminal.sees("Your key is [secret].");
  expect(JSON.stringify(model.requests.at(-1)!.body)).toContain(DOT_PNG.toString("base64"));
  await terminal.send("look yourself");
  await terminal.sees("I see it.");
  expect(terminal.screen()).toContain("✓ read dot.png");
  expect(terminal.screen()).toContain("└ image/png, 1 × 1, 1 KB:");
  expect(terminal.screen()).toContain(join(home, ".keyhole/images"));
});
