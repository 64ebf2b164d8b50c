// Records the picture of the chat in docs/chat.md: node scripts/record-chat.ts. A script plays the model.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { serveScriptedModel } from "keyhole/testing";
import { recordTerminal } from "./record-terminal.ts";
import { toSvg } from "./terminal/to-svg.ts";

const [COLUMNS, ROWS] = [84, 30];
const PICTURE = "docs/pictures/chat.svg";
const CODE = "export const total = (prices) =>\n  prices.reduce((sum, price) => sum + price);\n";
const TEST =
  'import assert from "node:assert/strict";\nimport { total } from "./total.mjs";\nassert.equal(total([]), 0);\n';
const EDIT = { path: "total.mjs", oldText: "sum + price);", newText: "sum + price, 0);" };
const ANSWER = `The sum of an empty list failed: \`reduce\` had no start value. It starts at \`0\` now.

| file | change |
|---|---|
| total.mjs | a start value for \`reduce\` |

\`node test.mjs\` passes.`;

const model = await serveScriptedModel(({ messages }) => {
  const steps = messages.filter(({ role }) => role === "assistant").length;
  const shell = { name: "shell", args: { command: "node test.mjs" } };
  const calls = [shell, { name: "read", args: { path: "total.mjs" } }, { name: "edit", args: EDIT }, shell];
  const next = calls[steps];
  const usage = { input: 1_150 + 180 * steps, output: 40, cached: steps === 0 ? 0 : 1_000 };
  return next ? { calls: [next], usage } : { text: ANSWER, usage };
});
const home = mkdtempSync(join(tmpdir(), "keyhole-picture-"));
const folder = join(home, "shop");
mkdirSync(join(home, ".keyhole"), { recursive: true });
mkdirSync(folder);
writeFileSync(join(folder, "total.mjs"), CODE);
writeFileSync(join(folder, "test.mjs"), TEST);
const local = { baseUrl: `${model.url}/v1`, model: "a-model" };
const settings = {
  providers: { default: "local", local },
  permissions: { allow: ["shell-run(node test.mjs)"] },
};
writeFileSync(join(home, ".keyhole/settings.json"), JSON.stringify(settings));

try {
  const frames = await recordTerminal({
    command: [process.execPath, resolve("src/program/main.ts"), "chat"],
    folder,
    env: { HOME: home, XDG_CACHE_HOME: join(home, "cache") },
    columns: COLUMNS,
    rows: ROWS,
    replace: [[home, "~"]],
    steps: [
      { sees: "asks (⇧Tab)" },
      { type: "Why does the test fail? Please repair it." },
      { press: ["Enter"] },
      { sees: "Allow fs-write?" },
      { sees: "↑↓ and Enter answer", hold: 2_500 },
      { press: ["Down"], hold: 1_200 },
      { press: ["Enter"] },
      { sees: "test.mjs passes", hold: 4_000 },
      { type: "/context" },
      { press: ["Enter"] },
      { sees: "in the next request", hold: 5_000 },
    ],
  });
  mkdirSync("docs/pictures", { recursive: true });
  const title =
    "The chat: the agent runs a test, shows the diff of its repair before it is made, and checks the result";
  writeFileSync(PICTURE, toSvg(frames, { columns: COLUMNS, rows: ROWS, title }));
  console.log(`${PICTURE}: ${frames.length} frames.`);
} finally {
  await model.close();
  rmSync(home, { recursive: true, force: true });
}
