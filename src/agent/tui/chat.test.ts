import { expect, test } from "vitest";
import { answer, createScriptedAgent } from "../../../test/scripted-agent.ts";
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
