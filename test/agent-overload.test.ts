import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { ScriptedReply } from "../src/testing/model-wire/scripted-exchange.ts";
import { chatPlace, inTerminals } from "./chat-kit.ts";

const overloaded: ScriptedReply = { error: { status: 529, message: "Overloaded" } };

// Waits of the real length would take the minutes that they are for.
const settings = { retry: { baseDelayMs: 100, maxDelayMs: 1_000, enableJitter: false } };
const broken: ScriptedReply = { text: "I will now begin with", breakAfter: 2 };
const noCredit: ScriptedReply = {
  error: { status: 400, message: "Your credit balance is too low to access the API." },
};
const longWait: ScriptedReply = {
  error: { status: 429, message: "Slow down", headers: { "retry-after": "7500" } },
};

/** A prompt that nobody watches, over a provider that answers with these replies. */
async function unattended(replies: readonly ScriptedReply[]) {
  const { model, folder, env } = await chatPlace([...replies, { text: "Done." }], { settings });
  const words = [resolve("src/program/main.ts"), "chat", "--print", "work"];
  const child = spawn(process.execPath, words, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return {
    out,
    err,
    code,
    requests: model.requests.length,
    last: JSON.stringify(model.requests.at(-1)?.body),
  };
}

test("an overloaded provider is asked again with growing waits, which are told, until it answers", async () => {
  const { out, err, code, requests } = await unattended(Array(7).fill(overloaded));
  expect({ out, code, requests }).toEqual({ out: "Done.\n", code: 0, requests: 8 });
  const waits = [...err.matchAll(/Retrying in (\S+ \S+):/g)].map(([, wait]) => wait);
  expect(waits).toHaveLength(7);
  expect(waits.slice(0, 4)).toEqual(["0.1 s", "0.2 s", "0.4 s", "0.8 s"]);
});

test("a stream that breaks after its first words is asked for again, and its words are in no later request", async () => {
  const { out, err, last, code, requests } = await unattended([broken]);
  expect({ out, code, requests }).toEqual({ out: "Done.\n", code: 0, requests: 2 });
  expect(err).toContain("The answer broke off and is asked for again.");
  expect(last).not.toContain("I will");
});

test("an account without credit is named, with what to do, and not asked again", async () => {
  const { err, code, requests } = await unattended([noCredit]);
  expect({ code, requests }).toEqual({ code: 1, requests: 1 });
  expect(err).toContain("The account at local has no credit left.");
  expect(err).toContain("Add credit");
});

test("a wait of hours that the provider asks for is told with its time", async () => {
  const { err, code, requests } = await unattended([longWait]);
  expect({ code, requests }).toEqual({ code: 1, requests: 1 });
  expect(err).toMatch(/It asks to wait 2 h 5 min, until \d{4}-\d\d-\d\d \d\d:\d\d UTC\./);
});

inTerminals(
  "a person sees each retry, the time of a long wait, and that an account is empty",
  async (openPlace) => {
    const done = { text: "Done." };
    const { open } = await openPlace([overloaded, broken, done, longWait, noCredit], { settings });
    const terminal = open();
    await terminal.sees("asks (⇧Tab)");
    await terminal.send("work");
    await terminal.sees("Retrying in 0.1 s: RATE_LIMITED: local (529): Overloaded");
    await terminal.sees("The answer broke off and is asked for again.");
    await terminal.sees("Done.");
    await terminal.send("more");
    await terminal.sees("Slow down. It asks to wait 2 h 5 min");
    await terminal.send("more of it");
    await terminal.sees("The account at local has no credit left.");
    await terminal.sees("Add credit to the account");
  },
);
