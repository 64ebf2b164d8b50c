import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ModelScript } from "../src/testing/scripted-model.ts";
import { inTerminals } from "./chat-kit.ts";

/** The first prompt runs a command that waits for the test; every other message is repeated. */
const script: ModelScript = ({ messages }) => {
  const last = messages.at(-1)!;
  if (last.text === "start") return { calls: [{ name: "shell", args: { command: "cat gate" } }] };
  const users = messages.filter(({ role }) => role === "user").map(({ text }) => text);
  return { text: `Heard: ${users.join(" | ")}.` };
};

inTerminals("messages typed during a run are shown, steer, wait and come back", async (openPlace) => {
  const settings = { permissions: { allow: ["shell-run(cat *)", "shell-run(echo *)"] } };
  const { model, folder, open } = await openPlace(script, { settings });
  expect(spawnSync("mkfifo", [join(folder, "gate")]).status).toBe(0);
  const terminal = open();
  await terminal.sees("asks (⇧Tab)");
  await terminal.send("start");
  await terminal.sees("Running shell");

  await terminal.send("use pnpm");
  await terminal.sees("⧗ after this step (Alt-Up takes back): use pnpm");
  terminal.type("then commit");
  await terminal.sees("› then commit");
  terminal.press("M-Enter");
  await terminal.sees("⧗ at the end: then commit");
  await terminal.send("not npm");
  await terminal.sees("⧗ after this step: not npm");
  await terminal.send("a mistake");
  await terminal.sees("⧗ after this step: a mistake");
  terminal.press("M-Up");
  await terminal.sees("› a mistake");
  expect(terminal.screen()).not.toContain("⧗ after this step: a mistake");
  terminal.press("C-u");

  await terminal.send("/cost");
  await terminal.sees("requests");
  await terminal.send("!echo from-the-person");
  await terminal.sees("└ from-the-person");
  expect(model.requests).toHaveLength(1);

  writeFileSync(join(folder, "gate"), "open\n");
  await terminal.sees("Heard: start | use pnpm | not npm | then commit");
  expect(terminal.screen()).not.toContain("⧗");
  // One by one: each is a message of its own, the steering ones directly after the tool.
  expect(model.requests).toHaveLength(3);
  expect(model.requests[1]!.messages.slice(-3)).toMatchObject([
    { role: "tool" },
    { role: "user", text: "use pnpm" },
    { role: "user", text: "not npm" },
  ]);
  // The output of the person's own command comes with their next message.
  const last = model.requests[2]!.messages.at(-1);
  expect(last?.role).toBe("user");
  expect(last?.text).toMatch(/^then commit\n\n\[The person ran the command echo from-the-person\n/);
});

inTerminals("a cancelled run gives the messages that waited back to the draft", async (openPlace) => {
  const settings = { permissions: { allow: ["shell-run(cat *)"] } };
  const { model, folder, open } = await openPlace(script, { settings });
  expect(spawnSync("mkfifo", [join(folder, "gate")]).status).toBe(0);
  const terminal = open();
  await terminal.sees("asks (⇧Tab)");
  await terminal.send("start");
  await terminal.sees("Running shell");
  await terminal.send("use pnpm");
  await terminal.sees("⧗ after this step");
  terminal.press("Escape");
  await terminal.sees("Cancelled.");
  await terminal.sees("› use pnpm");
  expect(terminal.screen()).not.toContain("⧗");
  expect(model.requests).toHaveLength(1);
});
