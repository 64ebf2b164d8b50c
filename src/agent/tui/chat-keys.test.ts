import { expect, test } from "vitest";
import { openFakeTerminal } from "../../../test/fake-terminal.ts";
import { answer, cancelled, createScriptedAgent, type Turn, told } from "../../../test/scripted-agent.ts";

const [UP, DOWN, ESCAPE, SHIFT_TAB] = ["\u001b[A", "\u001b[B", "\u001b", "\u001b[Z"] as const;

test("Shift-Tab changes the mode, and the status line shows it first", async () => {
  const agent = createScriptedAgent([() => answer("Well.")]);
  const terminal = openFakeTerminal(agent);
  await terminal.sees("asks (⇧Tab) · scripted · 1,234 tokens (1 %) · $0.50");
  await terminal.type(SHIFT_TAB);
  await terminal.sees("accepts edits (⇧Tab)");
  await terminal.type(SHIFT_TAB);
  await terminal.sees("plans, changes nothing (⇧Tab)");
  expect(agent.status().mode).toBe("plan");
  await terminal.type("/mode ask\r");
  await expect.poll(() => agent.status().mode).toBe("ask");
});

test("Esc cancels a run; twice while nothing runs, it goes back to an earlier message", async () => {
  const waits: Turn = async function* (_prompt, stage) {
    yield told({ type: "llm-start", step: 1, model: "scripted" });
    await stage.cancelled();
    yield cancelled();
  };
  const terminal = openFakeTerminal(createScriptedAgent([waits]));
  await terminal.type("go\r");
  await terminal.sees("Thinking");
  await terminal.type(ESCAPE);
  await terminal.sees("Cancelled.");
  await expect.poll(() => terminal.chat.state().phase).toBe("idle");
  await terminal.type(ESCAPE);
  await expect.poll(() => terminal.chat.state().picker).toBe(undefined);
  for (let tries = 0; !terminal.chat.state().picker && tries < 20; tries += 1) await terminal.type(ESCAPE);
  await terminal.sees("Go back to before:");
  await terminal.type(DOWN);
  await terminal.sees("› messages two");
  await terminal.type("\r");
  // Files have changed since, so the person says what goes back. A digit picks.
  await terminal.sees("Restore:");
  await terminal.type("1");
  await terminal.sees("› again second");
  expect(terminal.text()).toContain("Back before that message.");
});

test("keys that arrive together, as over a slow line, have their effects one by one", async () => {
  const terminal = openFakeTerminal(createScriptedAgent([(prompt) => answer(`Heard ${prompt}.`)]));
  await terminal.type("old words\u0015new\u0001the \u0005ones\r");
  await terminal.sees("Heard the newones.");
});

test("a question without attention leaves Esc alone", async () => {
  const turn: Turn = async function* (_prompt, stage) {
    yield told({ type: "tool-start", callId: "c1", tool: "shell", args: { command: "ls" } });
    const given = yield* stage.permission("c1", "run command: ls");
    yield* answer(`Given: ${given}.`);
  };
  const terminal = openFakeTerminal(createScriptedAgent([turn]));
  await terminal.type("go\r");
  await terminal.sees("Allow shell-run?");
  await terminal.type("typing");
  await terminal.type(ESCAPE);
  expect(terminal.chat.state().phase).toBe("running");
});

test("/model and /resume pick from a list that letters filter, and Ctrl-R picks a line sent before", async () => {
  const agent = createScriptedAgent([() => answer("One."), () => answer("Two.")]);
  const terminal = openFakeTerminal(agent);
  await terminal.type("first line\r");
  await terminal.sees("One.");
  await terminal.type("/model\r");
  await terminal.sees("› models one");
  await terminal.type("second");
  await terminal.sees("› models two");
  await terminal.type("\r");
  await terminal.sees("The model is second.");
  await terminal.type("\u0012");
  await terminal.sees("Sent before:");
  await terminal.type("first");
  await terminal.sees("› first line");
  await terminal.type("\r");
  await expect.poll(() => terminal.chat.state().picker).toBe(undefined);
  await terminal.type(" again\r");
  await terminal.sees("Two.");
  expect(agent.prompts).toEqual(["first line", "first line again"]);
  await terminal.type(UP);
  await terminal.sees("› first line again");
});

test("thinking is dimmed and folded, Ctrl-T unfolds it, and output of a command shows while it runs", async () => {
  const { promise: seen, resolve: go } = Promise.withResolvers<void>();
  const turn: Turn = async function* () {
    yield told({ type: "llm-thinking", step: 1, text: "First idea.\nSecond " });
    yield told({ type: "llm-thinking", step: 1, text: "idea." });
    const usage = { input: 1, output: 1, cached: 0 };
    yield told({ type: "llm-end", step: 1, text: "", usage, finish: "tool-calls" });
    yield told({ type: "tool-start", callId: "c1", tool: "shell", args: { command: "npm test" } });
    yield told({ type: "tool-output", callId: "c1", text: "1 passed\n2 pas" });
    yield told({ type: "tool-output", callId: "c1", text: "sed\n" });
    await seen;
    const text = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join("\n");
    yield told({ type: "tool-end", callId: "c1", tool: "shell", ok: true, text, ms: 3 });
    yield* answer("Done.");
  };
  const terminal = openFakeTerminal(createScriptedAgent([turn]));
  await terminal.type("go\r");
  await terminal.sees("2 passed");
  expect(terminal.text()).toContain("∴ First idea. (2 lines, Ctrl-T shows them)");
  expect(terminal.text()).toContain("● shell npm test");
  go();
  await terminal.sees("… 6 more lines, Ctrl-O shows all");
  await terminal.type("\u0014");
  await terminal.sees("Second idea.");
  await terminal.type("\u000f");
  await terminal.sees("line 9");
});

test("tables are aligned, code is coloured by pieces, and a summary is told", async () => {
  const text =
    '| name | size |\n|---|---:|\n| `a.ts` | 1 |\n| longer name | 22 |\n\n```ts\nconst a = "x"; // y\n```';
  const terminal = openFakeTerminal(createScriptedAgent([() => answer(text)]));
  await terminal.type("go\r");
  await terminal.sees('const a = "x"; // y');
  expect(terminal.text()).toContain("name         size\n───────────  ────\na.ts         1\nlonger name  22");
  await terminal.type("/compact\r");
  await terminal.sees("4 older messages. The model summarized them");
});

test("commands of files and servers complete and run", async () => {
  const agent = createScriptedAgent([() => answer("Reviewed.")]);
  const terminal = openFakeTerminal(agent);
  await terminal.type("/rev");
  await terminal.sees("/review  Reviews the change.");
  await terminal.type("\t");
  await terminal.type(" src/a.ts\r");
  await terminal.sees("Reviewed.");
  expect(agent.prompts).toEqual(["Prompt of review: src/a.ts"]);
  await terminal.type("/undo\r");
  await terminal.sees("Restored a.ts.");
  await terminal.type("/mcp login shop\r");
  await terminal.sees("works login shop");
});

test("a digit answers a question after the pause", async () => {
  const turn: Turn = async function* (_, { permission }) {
    const given = yield* permission("c1", "run command: make");
    yield* answer(`Given: ${JSON.stringify(given)}.`);
  };
  const terminal = openFakeTerminal(createScriptedAgent([turn]));
  await terminal.type("go\r");
  await terminal.sees("or a digit");
  await terminal.type("2");
  await terminal.sees('Given: "session".');
});
