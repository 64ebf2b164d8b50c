import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ModelScript } from "../src/testing/scripted-model.ts";
import { chatPlace, inTerminals, noTerminal } from "./chat-kit.ts";
import type { Terminal } from "./tmux.ts";

const script: ModelScript = ({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === "tool")
    return { text: `The command answered: ${/from-\w+|The person refused./.exec(last.text)?.[0] ?? "no"}.` };
  if (last?.text.includes("wait")) return exec("touch waits; sleep 600");
  if (last?.text.includes("make")) return exec("touch made");
  if (last?.text.includes("run")) return exec("touch made-here; printf from-%s shell");
  const asked = messages.filter(({ role }) => role === "user").length;
  return { text: `# Well\n\nThis is answer **${asked}**.` };
};

inTerminals("a chat in a real terminal", async (openPlace) => {
  const { folder, open } = await openPlace(script);
  const terminal = open();
  await terminal.sees("Keyhole, local scripted.");
  await terminal.sees("›");

  terminal.type("Hello there");
  terminal.press("Enter");
  await terminal.sees("This is answer 1.");

  terminal.type("Now run it");
  terminal.press("Enter");
  await terminal.sees("Allow shell-run?");
  expect(terminal.screen()).toContain("touch made-here; printf from-%s shell");
  expect(terminal.screen()).toContain(`in the folder: ${folder}`);
  await allow(terminal);
  await terminal.sees("The command answered: from-shell.");
  expect(terminal.screen()).toContain("✓ exec");

  terminal.type("And wait");
  terminal.press("Enter");
  await terminal.sees("sleep 600");
  await allow(terminal);
  await terminal.sees("Running exec");
  terminal.press("C-c");
  await terminal.sees("Cancelled.");

  terminal.resize(40, 24);
  terminal.type("A longer question in a narrow window, which takes two lines");
  terminal.press("Enter");
  await terminal.sees("This is answer 4.");
  terminal.type("/context");
  terminal.press("Enter");
  await terminal.sees("every tool");

  terminal.press("C-c");
  await terminal.sees("Ctrl-C again leaves.");
  terminal.press("C-c");
  await terminal.ends();

  const again = open("--continue");
  await again.sees("This is answer 4.");
  again.type("Still there?");
  again.press("Enter");
  await again.sees("This is answer 5.");
  again.type("/exit");
  again.press("Enter");
  await again.ends();
});

const DRAFT = "yes please always also say yes, sand and any of it ";

test.skipIf(noTerminal).each([
  ["in bursts", 6, 25],
  ["steadily", 1, 80],
])("a draft typed %s over an opening question stays a draft", async (_how, size, pauseMs) => {
  const { folder, open, model } = await chatPlace(script);
  const terminal = open();
  await terminal.sees("›");
  terminal.type("Now make it");
  await terminal.sees("Now make it");
  terminal.press("Enter");
  await expect.poll(() => model.requests.length, { timeout: 60_000, interval: 5 }).toBe(1);
  // Typing starts as the question opens, and goes on while it is open.
  let typed = "";
  let whileOpen = 0;
  while (whileOpen < DRAFT.length) {
    const next = DRAFT.slice(typed.length % DRAFT.length, (typed.length % DRAFT.length) + size);
    terminal.type(next);
    typed += next;
    if (terminal.screen().includes("Allow shell-run?")) whileOpen += next.length;
    await sleep(pauseMs);
  }
  terminal.press("Enter");
  await terminal.sees("after this step");
  await terminal.sees("↑↓ and Enter answer");
  expect(existsSync(join(folder, "made"))).toBe(false);

  terminal.press("Escape");
  await terminal.sees("The person refused.");
  // The draft is sent after the turn, and the model gets all of it.
  const sent = () => model.requests.at(-1)?.messages.findLast(({ role }) => role === "user")?.text;
  await expect.poll(sent, { timeout: 60_000, interval: 50 }).toBe(typed.trim());
  expect(existsSync(join(folder, "made"))).toBe(false);
});

async function allow(terminal: Terminal): Promise<void> {
  await terminal.sees("↑↓ and Enter answer");
  terminal.press("Down", "Enter");
}

function exec(command: string) {
  return { calls: [{ name: "exec", args: { op: "workspace.shell", args: { command } } }] };
}
