import { expect, test, vi } from "vitest";
import { openFakeTerminal } from "../../../test/fake-terminal.ts";
import { answer, cancelled, createScriptedAgent, type Turn, told } from "../../../test/scripted-agent.ts";

/** Shown once a question takes keys. */
const READY = "↑↓ and Enter answer";
const [UP, DOWN, PAGE_DOWN, ESCAPE] = ["\u001b[A", "\u001b[B", "\u001b[6~", "\u001b"] as const;

const shellTurn: Turn = async function* (_prompt, stage) {
  yield told({ type: "tool-start", callId: "c1", tool: "shell", args: { command: "rm -rf build" } });
  const given = yield* stage.permission("c1", "run command: rm -rf build\u200b");
  const ok = given !== "deny";
  yield told({ type: "tool-end", callId: "c1", tool: "shell", ok, text: `answer: ${given}`, ms: 1_500 });
  yield* answer("Done.");
};

test("a typed question is answered in Markdown", async () => {
  const agent = createScriptedAgent([
    () =>
      answer(
        "# Head\n\nSome **bold** and `code`.\n\n- one\n- two\n\n```ts\nlet a = 1;\n```\n[docs](https://a.example)",
      ),
  ]);
  const terminal = openFakeTerminal(agent);
  await terminal.sees("Keyhole, scripted");
  await terminal.type("hello\r");
  await terminal.sees("docs (https://a.example)");
  const text = terminal.text();
  for (const part of ["› hello", "Head", "Some bold and code.", "• one", "  let a = 1;"])
    expect(text).toContain(part);
  expect(text).not.toContain("**");
  expect(agent.prompts).toEqual(["hello"]);
});

test("a permission shows the exact command and passes the answer back", async () => {
  const terminal = openFakeTerminal(createScriptedAgent([shellTurn]));
  await terminal.type("go\r");
  await terminal.sees("Allow shell-run?");
  expect(terminal.text()).toContain("│ run command: rm -rf build‹U+200B›");
  await terminal.sees(READY);
  await terminal.type(DOWN);
  await terminal.type(DOWN);
  await terminal.type("\r");
  await terminal.sees("Done.");
  expect(terminal.text()).toContain("✓ shell");
  expect(terminal.text()).toContain("1.5 s");
  expect(terminal.text()).toContain("answer: session");
});

test("neither Enter alone nor a letter answers, and Esc denies", async () => {
  const terminal = openFakeTerminal(createScriptedAgent([shellTurn]));
  await terminal.type("go\r");
  await terminal.sees(READY);
  await terminal.type("\r");
  for (const letter of "ysan") await terminal.type(letter);
  await terminal.sees("› ysan");
  await terminal.type("\r");
  expect(terminal.chat.state().permissions).toHaveLength(1);
  await expect.poll(() => terminal.text().split(READY).length, { timeout: 20_000 }).toBeGreaterThan(2);
  await terminal.type(ESCAPE);
  await terminal.sees("answer: deny");
});

test("typing drops a choice that was made before", async () => {
  const terminal = openFakeTerminal(createScriptedAgent([shellTurn]));
  await terminal.type("go\r");
  await terminal.sees(READY);
  await terminal.type(DOWN);
  await terminal.sees("› yes, once");
  await terminal.type("and then\r");
  await terminal.sees("after this step");
  expect(terminal.chat.state().permissions).toHaveLength(1);
});

test("the draft can be the answer: it denies, and its text goes to the model", async () => {
  const answers: unknown[] = [];
  const turn: Turn = async function* (_prompt, stage) {
    yield told({ type: "tool-start", callId: "c1", tool: "shell", args: {} });
    answers.push(yield* stage.permission("c1", "run command: npm test"));
    yield* answer("Understood.");
  };
  const terminal = openFakeTerminal(createScriptedAgent([turn]));
  await terminal.type("go\r");
  await terminal.sees("Allow shell-run?");
  await terminal.type("use pnpm");
  await terminal.sees("no, do what the draft says");
  await terminal.sees(READY);
  await terminal.type(UP);
  await terminal.sees("› no, do what the draft says");
  await terminal.type("\r");
  await terminal.sees("Understood.");
  expect(answers).toEqual([{ deny: "use pnpm" }]);
});

test("a question shows the whole diff, and what always covers and where it is kept", async () => {
  const diff = "--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-\told\n+<!-- new -->\n";
  const turn: Turn = async function* (_prompt, stage) {
    yield told({ type: "tool-start", callId: "c1", tool: "edit", args: {} });
    const given = yield* stage.permission("c1", "write file: /p/x.ts", {
      scope: "fs-write",
      diff,
      always: ["fs-write(x.ts)"],
      keptIn: "/p/.keyhole/settings.json",
    });
    yield* answer(`Given: ${given}.`);
  };
  const terminal = openFakeTerminal(createScriptedAgent([turn]));
  await terminal.type("go\r");
  await terminal.sees(READY);
  for (const part of [
    "│ write file: /p/x.ts",
    "│ -→   old",
    "│ +<!-- new -->",
    "yes, always: fs-write(x.ts), in /p/.keyhole/settings.json",
    "yes, and any change of this file again in this session",
  ])
    expect(terminal.text()).toContain(part);
  for (let step = 0; step < 3; step += 1) await terminal.type(DOWN);
  await terminal.sees("› yes, always");
  await terminal.type("\r");
  await terminal.sees("Given: always.");
});

test("a question is paged with its reason, and cannot be allowed before its end was seen", async () => {
  const long = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
  const turn: Turn = async function* (_prompt, stage) {
    yield told({ type: "tool-start", callId: "c1", tool: "shell", args: {} });
    const given = yield* stage.permission("c1", long);
    yield* answer(`Given: ${given}.`);
  };
  const terminal = openFakeTerminal(createScriptedAgent([turn]));
  await terminal.type("go\r");
  await terminal.sees("of 60; Page Down shows more.");
  await terminal.sees(READY);
  await terminal.type(DOWN);
  await terminal.type("\r");
  for (const lines of ["18–34 of 60", "35–51 of 60", "44–60 of 60; Page Up shows more."]) {
    await terminal.type(PAGE_DOWN);
    await terminal.sees(lines);
  }
  expect(terminal.chat.state().permissions).toHaveLength(1);
  for (let line = 0; line < 60; line += 1) expect(terminal.text()).toContain(`│ line ${line}`);
  expect(terminal.text()).toContain("Allow shell-run? No rule allows it.");
  expect(terminal.text()).toContain("Page Down to the end first");
  await terminal.type("\r");
  await terminal.sees("Given: once.");
});

test("Ctrl-C cancels; pressed twice, it leaves", async () => {
  const turn: Turn = async function* (_prompt, stage) {
    yield told({ type: "llm-text", step: 1, text: "Half of an" });
    await stage.cancelled();
    yield cancelled();
  };
  const terminal = openFakeTerminal(createScriptedAgent([turn, () => answer("Second.")]));
  await terminal.type("go\r");
  await terminal.sees("Half of an");
  await terminal.type("\u0003");
  await terminal.sees("Cancelled.");
  await terminal.type("again\r");
  await terminal.sees("Second.");
  await terminal.type("\u0003");
  await terminal.sees("Ctrl-C again leaves.");
  await terminal.type("\u0003");
  await terminal.closed;
});

test("a line sent during a run waits for its end", async () => {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const turn: Turn = async function* () {
    yield told({ type: "llm-text", step: 1, text: "Under way" });
    await over;
    yield* answer("First.");
  };
  const agent = createScriptedAgent([turn, () => answer("Second.")]);
  const terminal = openFakeTerminal(agent);
  await terminal.type("one\r");
  await terminal.sees("Under way");
  await terminal.type("two\r");
  await terminal.sees("after this step");
  expect(agent.prompts).toEqual(["one"]);
  end();
  await terminal.sees("Second.");
  expect(agent.prompts).toEqual(["one", "two"]);
});

test("a diff shows its signs, and a call can be unfolded", async () => {
  const turn: Turn = async function* () {
    yield told({ type: "tool-start", callId: "c1", tool: "edit", args: { path: "a.ts" } });
    const diff = "--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-old\n+new\n";
    yield told({
      type: "tool-end",
      callId: "c1",
      tool: "edit",
      ok: true,
      text: "first\nsecond\nthird",
      ms: 5,
      diff,
    });
    yield* answer("Edited.");
  };
  const terminal = openFakeTerminal(createScriptedAgent([turn]));
  await terminal.type("edit\r");
  await terminal.sees("Edited.");
  for (const part of ["✓ edit a.ts", "-old", "+new", "@@ -1 +1 @@"]) expect(terminal.text()).toContain(part);
  expect(terminal.text()).not.toContain("third");
  await terminal.type("\u000f");
  await terminal.sees("third");
});

test("a paste keeps its lines and sends nothing", async () => {
  const agent = createScriptedAgent([() => answer("Got it.")]);
  const terminal = openFakeTerminal(agent);
  await terminal.sees("›");
  await terminal.type("\u001b[200~one\r\ntwo\u001b[201~");
  await terminal.sees("two");
  expect(agent.prompts).toEqual([]);
  await terminal.type("\\");
  await terminal.type("\r");
  await terminal.type("three");
  await terminal.sees("three");
  await terminal.type("\r");
  await terminal.sees("Got it.");
  expect(agent.prompts).toEqual(["one\ntwo\nthree"]);
});

test("Tab completes files and commands, and a mentioned file is included", async () => {
  const agent = createScriptedAgent([() => answer("Read.")]);
  const terminal = openFakeTerminal(agent, { files: ["src/alpha.ts", "src/beta.ts"] });
  await terminal.sees("›");
  await terminal.type("see @be");
  await terminal.sees("src/beta.ts");
  await terminal.type("\t");
  await terminal.sees("@src/beta.ts");
  await terminal.type("\r");
  await terminal.sees("Read.");
  expect(agent.prompts).toEqual(["see @src/beta.ts\n\nFile src/beta.ts:\n```\ncontent of src/beta.ts\n```"]);
  await terminal.type("/cont");
  await terminal.sees("/context");
  await terminal.type("\t");
  await terminal.type("\r");
  await terminal.sees("Listing every tool would cost 41,600 tokens more");
});

test("no line is wider than forty columns", async () => {
  const turn: Turn = async function* (prompt, stage) {
    yield* shellTurn(prompt, stage);
    yield* answer(
      `A ${"long ".repeat(40)}\n\n| a | b |\n|---|---|\n| ${"x".repeat(60)} | y |\n\n\`\`\`\n${"c".repeat(90)}\n\`\`\``,
    );
  };
  const terminal = openFakeTerminal(createScriptedAgent([turn]), { columns: 40 });
  await terminal.type(`${"typed ".repeat(20)}\r`);
  await terminal.sees(READY);
  await terminal.type(DOWN);
  await terminal.type("\r");
  await terminal.sees("ccc");
  for (const command of ["/help", "/context", "/tools", "/nope"]) {
    await terminal.type(command);
    await terminal.type("\r");
  }
  await terminal.sees("Command /nope not found.");
  const wide = terminal
    .text()
    .split(/\r?\n/)
    .filter((line) => [...line].length > 40);
  expect(wide).toEqual([]);
});

test("NO_COLOR loses no information", async () => {
  vi.stubEnv("NO_COLOR", "1");
  vi.stubEnv("FORCE_COLOR", "3");
  const terminal = openFakeTerminal(createScriptedAgent([shellTurn]));
  await terminal.type("go\r");
  await terminal.sees(READY);
  await terminal.type(DOWN);
  await terminal.type("\r");
  await terminal.sees("Done.");
  vi.unstubAllEnvs();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
  expect(terminal.raw()).not.toMatch(/\u001b\[(?:3[0-7]|38|9[0-7])/);
});
