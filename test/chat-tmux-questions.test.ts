import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { ModelScript } from "../src/testing/scripted-model.ts";
import { type ChatTerminal, inTerminals } from "./chat-kit.ts";

const READY = "or a digit";
const OLD = ["one", "two", "three", "four", "five"];
const NEW = OLD.map((word) => `${word} more`);
/** Lines around the change, of which the question may show fewer. */
const AROUND = ["a", "b", "c", "d"];

const lastOf = <T>(messages: readonly T[]) => messages.at(-1)!;

/** Waits until the question takes keys, and presses one. */
async function answers(terminal: ChatTerminal, key: string): Promise<void> {
  await terminal.sees(READY);
  terminal.press(key);
}

inTerminals("an edit of five lines is seen whole and allowed by one key", async (openPlace) => {
  const script: ModelScript = ({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").length;
    if (results === 0) return { calls: [{ name: "read", args: { path: "words.txt" } }] };
    if (results > 1) return { text: "Edited." };
    const args = { path: "words.txt", oldText: OLD.join("\n"), newText: NEW.join("\n") };
    return { calls: [{ name: "edit", args }] };
  };
  const { open, folder } = await openPlace(script, {
    files: { "words.txt": `${[...AROUND, ...OLD, ...AROUND].join("\n")}\n` },
  });
  const terminal = open();
  await terminal.sees("asks (⇧Tab)");
  await terminal.send("more words");
  await terminal.sees("Allow fs-write?");
  await terminal.sees(READY);
  for (const line of [...OLD.map((word) => `│ -${word}`), ...NEW.map((word) => `│ +${word}`)])
    expect(terminal.screen()).toContain(line);
  expect(terminal.screen()).not.toContain("Page Down");
  expect(terminal.screen()).toContain("yes, always: fs-write(words.txt)");

  // Enter without a choice says why it does nothing.
  terminal.press("Enter");
  await terminal.sees("Nothing is chosen yet");
  terminal.press("1");
  await terminal.sees("Edited.");
  expect(readFileSync(join(folder, "words.txt"), "utf8")).toContain(NEW.join("\n"));
});

inTerminals("the rule of always is a pattern that can be edited before it is kept", async (openPlace) => {
  const { open, folder, model } = await openPlace(
    ({ messages }) => {
      const last = lastOf(messages);
      if (last.role === "tool") return { text: `Tool: ${last.text.slice(0, 40)}.` };
      return { calls: [{ name: "shell", args: { command: last.text } }] };
    },
    { files: { "say.mjs": "console.log('said', process.argv[2]);" } },
  );
  const terminal = open();
  await terminal.sees("asks (⇧Tab)");
  await terminal.send("node say.mjs one");
  await terminal.sees("yes, always: shell-run(node say.mjs one)");
  await answers(terminal, "Tab");
  await terminal.sees("shell-run(node say.mjs **)");

  // A rule that does not allow the command is asked again, with the reason.
  terminal.press("BSpace", "BSpace");
  await terminal.sees("shell-run(node say.mjs *");
  terminal.type(")");
  await terminal.sees("shell-run(node say.mjs *)");
  terminal.press("Enter");
  await terminal.sees("shell-run(node say.mjs *) does not allow it");
  await answers(terminal, "Tab");
  await terminal.sees("shell-run(node say.mjs **)");
  terminal.press("Enter");
  await terminal.sees("Tool: ");
  const settings = JSON.parse(readFileSync(join(folder, ".keyhole/settings.json"), "utf8"));
  expect(settings.permissions.allow).toEqual(["shell-run(node say.mjs **)"]);
  await terminal.send("node say.mjs two");
  await expect
    .poll(() => lastOf(model.requests.at(-1)!.messages).text, { timeout: 20_000 })
    .toContain("said two");
});

inTerminals(
  "a page of this machine is read after a question, and its host can be allowed always",
  async (openPlace) => {
    const server = createServer((_, response) =>
      response.setHeader("content-type", "text/plain").end("local page"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { open, folder } = await openPlace(({ messages }) => {
      const last = lastOf(messages);
      if (last.role === "tool")
        return { text: `Read: ${/local page|REQUEST_REFUSED/.exec(last.text)?.[0]}.` };
      return { calls: [{ name: "fetch", args: { url: `http://${host}/` } }] };
    });
    const terminal = open();
    await terminal.sees("asks (⇧Tab)");
    await terminal.send("read it");
    await terminal.sees(`yes, always: web(${host})`);
    await terminal.sees("not encrypted");
    await answers(terminal, "3");
    await terminal.sees("Read: local page.");
    expect(readFileSync(join(folder, ".keyhole/settings.json"), "utf8")).toContain(`web(${host})`);
    await terminal.send("again");
    await expect.poll(() => terminal.screen().split("Read: local page.").length, { timeout: 20_000 }).toBe(3);
    expect(existsSync(join(folder, ".keyhole/settings.json"))).toBe(true);
  },
);
