import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { answer, createScriptedAgent, type Turn, told } from "../../../test/scripted-agent.ts";
import { Chat } from "./chat.ts";
import type { ChatAgent } from "./chat-agent.ts";
import { plainChat } from "./plain-chat.ts";

const asking: Turn = async function* (_prompt, stage) {
  yield told({ type: "tool-start", callId: "c1", tool: "shell", args: { command: "ls" } });
  const given = yield* stage.permission("c1", "run command: ls");
  yield told({ type: "tool-end", callId: "c1", tool: "shell", ok: false, text: String(given), ms: 2 });
  yield* answer("Not allowed.");
};

test("lines go in and out, and permission questions are denied", async () => {
  const lines = await play(["list", "/tools", "!date", "/exit", "never"], createScriptedAgent([asking]));
  expect(lines).toEqual([
    "[failed] shell ls (2 ms): nobody",
    "Not allowed.",
    "tools.one: What there is of tools.",
    "[ok] shell date (3 ms): ran date",
  ]);
});

test("every command answers", async () => {
  const commands = [
    "help",
    "context",
    "skills",
    "model",
    "model other",
    "permissions",
    "telemetry",
    "resume",
  ];
  for (const command of commands) {
    const lines = await play([`/${command}`], createScriptedAgent([]));
    expect(lines.join("\n"), command).not.toBe("");
  }
  expect(await play(["/resume one"], createScriptedAgent([]))).toEqual([
    "Before **indeed**.",
    "Resumed. Large results of the conversation are gone.",
  ]);
  expect(await play(["/clear"], createScriptedAgent([]))).toEqual(["A new conversation."]);
  expect(await play(["/tols"], createScriptedAgent([]))).toEqual([
    "Command /tols not found. Did you mean /tools? /help lists all.",
  ]);
  expect(await play(["/quti"], createScriptedAgent([]))).toEqual([
    "Command /quti not found. Did you mean /quit? /help lists all.",
  ]);
  expect(await play(["/fold:red"], createScriptedAgent([]))).toEqual([
    "Command /fold:red not found. /help lists all.",
  ]);
  expect(await play(["/constructor"], createScriptedAgent([]))).toEqual([
    "Command /constructor not found. /help lists all.",
  ]);
});

test("a failure is shown, and the chat continues", async () => {
  const failing: Turn = async function* () {
    yield told({ type: "llm-text", step: 1, text: "Half" });
    throw new Error("The wire broke.");
  };
  const list: ChatAgent["list"] = async () => {
    throw new Error("No list.");
  };
  const agent = createScriptedAgent([failing, () => answer("Well.")], { list });
  const { lines, ok } = await playAll(["one", "/tools", "two"], agent);
  expect(ok).toBe(false);
  expect(lines).toEqual([
    "Half",
    "UNKNOWN: The wire broke.\nTry again; /help lists commands and keys.",
    "UNKNOWN: No list.\nTry again; /help lists commands and keys.",
    "Well.",
  ]);
});

test("a chat in which every line was answered went well", async () => {
  expect((await playAll(["one", "/tools"], createScriptedAgent([() => answer("Well.")]))).ok).toBe(true);
});

async function play(lines: readonly string[], agent: ChatAgent): Promise<readonly string[]> {
  return (await playAll(lines, agent)).lines;
}

async function playAll(lines: readonly string[], agent: ChatAgent) {
  const written: string[] = [];
  const chat = new Chat(agent, { isFile: async () => false });
  const ok = await plainChat(chat, {
    input: Readable.from(lines.map((line) => `${line}\n`)),
    write: (line) => written.push(line),
  });
  return { lines: written, ok };
}
