import { expect, test } from "vitest";
import { answer, createScriptedAgent, told } from "../../../test/scripted-agent.ts";
import { Chat } from "./chat.ts";
import { blockText } from "./plain-chat.ts";

function open(more: Parameters<typeof createScriptedAgent>[1] = {}) {
  const agent = createScriptedAgent([() => answer("Done.")], more);
  const chat = new Chat(agent, { isFile: async (path) => path.endsWith(".png") });
  const shown = () => chat.state().done.map(blockText);
  return { agent, chat, shown };
}

test("/init lets the agent write an AGENTS.md", async () => {
  const { agent, chat, shown } = open();
  await chat.submit("/init");
  expect(agent.prompts[0]).toContain("write an AGENTS.md in its root");
  expect(shown()).toEqual(["> /init", "Done."]);
});

test("? lists commands and keys, and every command has a line", async () => {
  const { chat, shown } = open();
  await chat.submit("?");
  expect(shown()[0]).toMatch(/^\/help: /);
  for (const name of ["/trust", "/undo", "/mcp", "/rename", "/export", "Ctrl-V"])
    expect(shown()[0]).toContain(`\n${name}: `);
});

test("empty lists say what to do", async () => {
  const { chat, shown } = open({ mcp: async () => [], choices: async () => [] });
  await chat.submit("/mcp");
  await chat.submit("/resume");
  expect(shown()).toEqual([
    expect.stringContaining("keyhole add adds one"),
    "No earlier conversation of this folder is kept.",
  ]);
});

test("/mcp approve and allow ask, other words list", async () => {
  const { chat, shown } = open();
  await chat.submit("/mcp approve shop");
  await chat.submit("/mcp refresh shop");
  expect(shown()).toEqual(["> /mcp approve shop", "Asked: approve shop.", "shop: works refresh shop"]);
});

test("a mentioned image goes with the prompt, and a line says what it is", async () => {
  const image = { mediaType: "image/png", data: "AAAA", about: "image/png, 1 × 1, 1 KB" };
  let files: unknown;
  const { chat, shown } = open({
    image: async () => image,
    run: (_prompt, options) => {
      files = options.files;
      return answer("A dot.");
    },
  });
  await chat.submit("What is @dot.png?");
  expect(files).toEqual([image]);
  expect(shown()).toEqual(["> What is @dot.png?", "dot.png: image/png, 1 × 1, 1 KB", "A dot."]);
});

test("the clipboard goes into the draft; without one, a notice says what is missing", async () => {
  const full = open({ clipboard: async () => "@/tmp/shot.png " });
  expect(await full.chat.paste()).toBe("@/tmp/shot.png ");
  const empty = open();
  expect(await empty.chat.paste()).toBeUndefined();
  expect(empty.shown()[0]).toContain("wl-clipboard or xclip");
});

test("the screen shows a long paste as the draft does, and the model gets all of it", async () => {
  const { agent, chat, shown } = open();
  await chat.submit("Look:\n1\n2", "Look: [Pasted text 1: 2 lines, 3 characters]");
  expect(agent.prompts).toEqual(["Look:\n1\n2"]);
  expect(shown()[0]).toBe("> Look: [Pasted text 1: 2 lines, 3 characters]");
  expect(chat.history).toEqual(["Look:\n1\n2"]);
});

/** A chat with a run that waits for `go`, takes what steers it, and ends with the next `go`. */
function openRunning() {
  const steered: unknown[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  const { agent, chat, shown } = open({
    run: async function* (prompt, { steer }) {
      (agent.prompts as string[]).push(prompt);
      if (begun++ > 0) return yield* answer("Next.");
      yield told({ type: "llm-text", step: 1, text: "Half a" });
      await gates[0]!.promise;
      steered.push(...((await steer?.()) ?? []));
      await gates[1]!.promise;
      yield* answer(" sentence.");
    },
  });
  return { agent, chat, shown, steered, go: (step: number) => gates[step]!.resolve() };
}

test("messages sent during a run are a queue: each reaches the model apart, and Alt-Enter's at the end", async () => {
  const { agent, chat, steered, go } = openRunning();
  const run = chat.submit("go");
  await chat.submit("use pnpm");
  await chat.submit("then commit", "then commit", "end");
  await chat.submit("not npm");
  expect(chat.state().queue.map(({ text, when }) => [text, when])).toEqual([
    ["use pnpm", "step"],
    ["then commit", "end"],
    ["not npm", "step"],
  ]);
  go(0);
  await expect.poll(() => steered).toMatchObject([{ prompt: "use pnpm" }, { prompt: "not npm" }]);
  expect(chat.state().queue).toMatchObject([{ text: "then commit" }]);
  go(1);
  await run;
  expect(agent.prompts).toEqual(["go", "then commit"]);
  expect(chat.state().queue).toEqual([]);
});

test("a message that waits can be taken back", async () => {
  const { agent, chat, go } = openRunning();
  const run = chat.submit("go");
  await chat.submit("one");
  await chat.submit("two");
  expect(chat.takeBack("last")).toBe("two");
  expect(chat.takeBack("all")).toBe("one");
  expect(chat.takeBack("last")).toBeUndefined();
  go(0);
  go(1);
  await run;
  expect(agent.prompts).toEqual(["go"]);
});

test("during a run, /cost, /context and !command work at once and leave the answer whole", async () => {
  const { chat, shown, go } = openRunning();
  const run = chat.submit("go");
  await expect.poll(() => chat.state().live).toHaveLength(1);
  await chat.submit("/cost");
  await chat.submit("/context");
  await chat.submit("!ls");
  expect(shown().join("\n")).toContain("> !ls");
  expect(chat.state().phase).toBe("running");
  await chat.submit("/clear");
  expect(chat.state().queue).toMatchObject([{ text: "/clear", when: "end" }]);
  chat.takeBack("all");
  go(0);
  go(1);
  await run;
  expect(shown()).toContain("Half a sentence.");
});

test("a line that begins with # asks where the note goes; several lines are a prompt", async () => {
  const { agent, chat, shown } = open();
  await chat.submit("# use pnpm");
  expect(chat.state().picker).toMatchObject({ kind: "notes", about: "use pnpm", numbered: true });
  await chat.pick({ id: "AGENTS.md", name: "", text: "" });
  expect(shown()).toEqual(["Added to AGENTS.md: use pnpm"]);
  await chat.submit("# A title\nand a text");
  await chat.submit("#hash");
  expect(agent.prompts).toEqual(["# A title\nand a text", "#hash"]);
});

test("going back asks what to restore if files have changed since", async () => {
  const { chat, shown } = open();
  await chat.openIfIdle("messages");
  await chat.pick({ id: "3", name: "", text: "" });
  expect(chat.state().picker).toMatchObject({ kind: "rewind", about: "3" });
  await chat.pick({ id: "files", name: "", text: "" });
  expect(shown()).toEqual(["Restored a.ts."]);
  const unchanged = open({ choices: async () => [] });
  unchanged.chat.setPicker({ kind: "messages", title: "", choices: [] });
  expect(await unchanged.chat.pick({ id: "3", name: "", text: "" })).toBe("again 3");
  expect(unchanged.shown()).toEqual(["> Before?", "Back before that message. Files stay as they are."]);
});

test("/thinking takes a level, or offers all; a wrong one is a problem", async () => {
  const { agent, chat } = open();
  await chat.submit("/thinking HIGH");
  expect(agent.status().thinking).toBe("high");
  await chat.submit("/thinking");
  expect(chat.state().picker?.choices.map(({ id }) => id)).toEqual([
    "default",
    "off",
    "low",
    "medium",
    "high",
  ]);
});

test("a message that waits answers the question about a plan, and is sent next", async () => {
  const answers: unknown[] = [];
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { agent, chat } = open({
    run: async function* (prompt) {
      (agent.prompts as string[]).push(prompt);
      yield* answer("A plan.");
      if (agent.prompts.length > 1) return;
      await asked;
      const question = { callId: "q", scope: "plan", action: "", reason: "", always: [] };
      yield told({ type: "permission-request", ...question });
    },
    answerPermission: (_, given) => answers.push(given),
  });
  const run = chat.submit("make a plan");
  await chat.submit("with tests", "with tests", "end");
  ask();
  await run;
  expect(answers).toEqual(["deny"]);
  expect(agent.prompts).toEqual(["make a plan", "with tests"]);
});
