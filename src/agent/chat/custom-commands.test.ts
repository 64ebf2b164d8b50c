import { resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { plant } from "../../../test/chat-kit.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { eventually, gatewayOf, PATIENT } from "../../../test/upstream-kit.ts";
import { createMcpSource } from "../../sources/mcp/mcp-source.ts";
import { openCustomCommands } from "./custom-commands.ts";

test("Markdown files are commands: the nearest place wins, words fill the text", async () => {
  const project = temporaryFolder();
  const home = temporaryFolder();
  plant(project, {
    ".keyhole/commands/review.md":
      "---\ndescription: Reviews a file.\n---\nReview $1 for $2, all: $ARGUMENTS",
    ".claude/commands/plain.md": "Do it.",
    ".claude/commands/git/tidy.md": "Tidy the history.",
    ".claude/commands/notes.txt": "no command",
  });
  plant(home, { ".keyhole/commands/review.md": "Mine", ".keyhole/commands/mine.md": "Mine: $1" });
  const gateway = gatewayOf([]);
  onTestFinished(() => gateway.close());
  const commands = await openCustomCommands([project, home], gateway);
  expect(commands.list().map(({ name, summary }) => [name, summary])).toEqual([
    ["review", "Reviews a file."],
    ["git:tidy", "Tidy the history."],
    ["plain", "Do it."],
    ["mine", "Mine: $1"],
  ]);
  expect(await commands.expand("review", "a.ts bugs $2")).toBe("Review a.ts for bugs, all: a.ts bugs $2");
  expect(await commands.expand("plain", "now")).toBe("Do it.\n\nnow");
  await expect(commands.expand("nobody", "")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("prompts of servers are commands, with their params by name or in order", async () => {
  const rich = { command: process.execPath, args: [resolve("test/rich-upstream.ts")] };
  const gateway = gatewayOf([createMcpSource("rich", rich, { trusted: true, limits: PATIENT })]);
  onTestFinished(() => gateway.close());
  await gateway.ready();
  const commands = await openCustomCommands([], gateway);
  await eventually(() => expect(commands.list()).not.toEqual([]));
  expect(commands.list().map(({ name }) => name)).toContain("rich:review");
  const image = "[image: image/png, 70 bytes]";
  const said = (what: string) => [
    { role: "user", prompt: `Review ${what}` },
    { role: "assistant", prompt: image },
  ];
  expect(await commands.expand("rich:review", "the last change")).toEqual(said("the last change"));
  expect(await commands.expand("rich:review", 'what="this file"')).toEqual(said("this file"));
  await expect(commands.expand("rich:review", "")).rejects.toThrow("the argument what is missing");
  const asked: string[] = [];
  const answered = await commands.expand("rich:review", "", async ({ title }) => {
    asked.push(title);
    return "these";
  });
  expect([asked, answered]).toEqual([["rich:review needs what:"], said("these")]);
});
