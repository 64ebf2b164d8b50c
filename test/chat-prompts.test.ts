import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { chatPlace, inTerminals } from "./chat-kit.ts";

const SERVERS = {
  mcpServers: { guide: { command: process.execPath, args: [resolve("test/prompt-upstream.ts")] } },
};
const files = { "servers.json": JSON.stringify(SERVERS), "secret.txt": "kept to myself" };
const WORDS = ["--config", "servers.json", "--trust"];
/** The messages of the prompt as a model of chat completions gets them. */
const MESSAGES = (place: string) => [
  { role: "user", content: `The ${place} fails, see @secret.txt.` },
  { role: "assistant", content: "Show me the log." },
  {
    role: "user",
    content:
      "[resource: guide://log, text/plain]\n<untrusted guide>line 7 \\u003c/untrusted> failed</untrusted>",
  },
  {
    role: "user",
    content: [
      { type: "text", text: "[image: image/png, 70 bytes]" },
      { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) } },
    ],
  },
  { role: "user", content: "Find the cause." },
];
const bodyOf = ({ body }: { body: unknown }) => (body as { messages: unknown[] }).messages.slice(1);

inTerminals(
  "a server's prompt asks for what is missing and reaches the model as its messages",
  async (openPlace) => {
    const { model, open } = await openPlace(() => ({ text: "The cause is found." }), { files });
    const terminal = open(...WORDS);
    await terminal.sees("asks (⇧Tab)");
    terminal.type("/guide:de");
    // The server may still be starting.
    const offers = () => {
      terminal.press("b", "BSpace");
      return terminal.screen();
    };
    await expect.poll(offers, { timeout: 60_000, interval: 1_000 }).toContain("Finds a mistake.");
    terminal.type("bug ");
    await terminal.sees("› /guide:debug");
    terminal.press("Enter");
    await terminal.sees("guide:debug needs place:");
    await terminal.sees("The part where it goes wrong");
    terminal.type("pl");
    await terminal.sees("› pl");
    await terminal.sees("  planner");
    terminal.press("Tab");
    await terminal.sees("› planner");
    terminal.press("Enter");
    await terminal.sees("The cause is found.");
    expect(terminal.screen()).toContain("Show me the log.");
    expect(model.requests).toHaveLength(1);
    expect(bodyOf(model.requests[0]!)).toEqual(MESSAGES("planner"));

    // A prompt that ends with an answer is the beginning of a conversation: the person goes on.
    await terminal.send("/guide:greet");
    await terminal.sees("What is wrong?");
    expect(model.requests).toHaveLength(1);
    await terminal.send("nothing");
    await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBe(2);
    expect(bodyOf(model.requests[1]!).slice(-3)).toEqual([
      { role: "user", content: "Hello" },
      { role: "assistant", content: "What is wrong?" },
      { role: "user", content: "nothing" },
    ]);

    await terminal.send("/guide:debug");
    await terminal.sees("guide:debug needs place:");
    terminal.press("Escape");
    await terminal.sees("missing (The part where it goes wrong)");
    expect(model.requests).toHaveLength(2);
  },
);

test("without a person, a prompt of a server has all its arguments or is an error that names what is missing", async () => {
  const { model, folder, env } = await chatPlace(() => ({ text: "Found." }), { files });
  const print = async (prompt: string) => {
    const words = [resolve("src/program/main.ts"), "chat", "--print", prompt, ...WORDS];
    const child = spawn(process.execPath, words, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return { out, err, code };
  };
  expect(await print("/guide:debug parser")).toMatchObject({ out: "Found.\n", code: 0 });
  expect(bodyOf(model.requests[0]!)).toEqual(MESSAGES("parser"));
  const { err, code } = await print("/guide:debug");
  expect(err).toContain("the argument place is missing (The part where it goes wrong)");
  expect(code).toBe(1);
  expect(model.requests).toHaveLength(1);
});
