import { expect, test } from "vitest";
import { recordTerminal } from "../scripts/record-terminal.ts";
import { parseAnsi } from "../scripts/terminal/parse-ansi.ts";
import { toSvg } from "../scripts/terminal/to-svg.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { tmuxMissing } from "./tmux.ts";

const missing = tmuxMissing();
if (missing) console.warn(`No terminal is recorded: ${missing}.`);

test("colours and styles of a screen are read", () => {
  const screen =
    "\u001b[1;32mok\u001b[0m plain \u001b[38;5;208mx\u001b[39m\u001b[7my\u001b[0m\n\u001b[2mdim\n\n";
  expect(parseAnsi(screen)).toEqual([
    [
      { text: "ok", isBold: true, color: 2 },
      { text: " plain " },
      { text: "x", color: "#ff8700" },
      { text: "y", color: "#0d1117", background: "#e6edf3" },
    ],
    [{ text: "dim", isDim: true }],
  ]);
});

test("a picture draws each line once, escapes it and says what it shows", () => {
  const frames = [
    { ms: 1_000, lines: parseAnsi("$ a < b & c\nsame") },
    { ms: 3_000, lines: parseAnsi("done\nsame") },
  ];
  const svg = toSvg(frames, { columns: 40, rows: 4, title: 'The "first" minute' });
  expect(svg).toContain("$ a &lt; b &amp; c");
  expect(svg.match(/>same</g)).toHaveLength(1);
  expect(svg).toContain('aria-label="The &quot;first&quot; minute"');
  expect(svg).toContain("4s step-end");
  expect(svg).toMatch(/25% \{ transform: translateY\(-[\d.]+px\) \}/);
});

test.skipIf(missing !== undefined)("a program is recorded in a terminal", async () => {
  const folder = temporaryFolder();
  const frames = await recordTerminal({
    command: ["sh", "-c", "printf 'name? '; read name; printf \"hello $name in $PWD\\n\"; sleep 60"],
    folder,
    env: { HOME: folder },
    columns: 80,
    rows: 5,
    steps: [{ sees: "name?" }, { type: "dear reader" }, { press: ["Enter"] }, { sees: "hello dear reader" }],
    replace: [[folder, "/home/you"]],
  });
  const screens = frames.map(({ lines }) =>
    lines.map((cells) => cells.map(({ text }) => text).join("")).join("\n"),
  );
  expect(screens[0]).toContain("name?");
  expect(screens.at(-1)).toContain("hello dear reader in /home/you");
  expect(frames.every(({ ms }) => ms > 0)).toBe(true);
});
