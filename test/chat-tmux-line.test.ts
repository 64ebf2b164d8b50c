import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { inTerminals } from "./chat-kit.ts";

const READY = "or a digit";
const PATIENT = { timeout: 30_000 };

const lastOf = <T>(messages: readonly T[]) => messages.at(-1)!;

inTerminals(
  "the arrows choose commands, files and levels of thinking, and the requests carry the level",
  async (openPlace) => {
    const place = await openPlace(
      ({ messages }) => ({ text: `Answer: ${lastOf(messages).text.slice(0, 20)}` }),
      {
        files: { "lib/one.ts": "1", "lib/two.ts": "2" },
      },
    );
    const terminal = place.open();
    await terminal.sees("asks (⇧Tab)");
    terminal.type("/");
    await terminal.sees("/help  Lists commands");
    terminal.press("Down", "Down", "Up", "Down");
    await terminal.sees("› /context");
    terminal.press("Escape");
    await expect.poll(terminal.screen, PATIENT).not.toContain("/context");
    terminal.press("C-u");
    // Letters narrow, and a command that the arrows chose is sent at once.
    terminal.type("/th");
    await terminal.sees("/thinking  Picks");
    terminal.press("Down");
    await terminal.sees("› /thinking");
    terminal.press("Enter");
    await terminal.sees("Thinking:");
    await terminal.sees("› default");
    terminal.press("Down", "Down", "Down");
    await terminal.sees("› medium");
    terminal.press("Enter");
    await terminal.sees("· thinking medium");
    terminal.type("read @lib/");
    await terminal.sees("lib/two.ts");
    terminal.press("Down", "Down", "Down");
    await terminal.sees("› lib/two.ts");
    terminal.press("Enter");
    await terminal.sees("› read @lib/two.ts");
    terminal.press("Enter");
    await terminal.sees("Answer: read @lib/two.ts");
    expect(place.model.requests.at(-1)!.body).toMatchObject({ reasoning_effort: "medium" });
    await terminal.send("/thinking");
    await terminal.sees("Thinking:");
    // A digit picks as well.
    terminal.press("5");
    await terminal.sees("· thinking high");
    await terminal.send("/thinking off");
    await terminal.sees("· thinking off");
    await terminal.send("/thinking hard");
    await terminal.sees("Thinking: default, off, low, medium, high.");
    await terminal.send("again");
    await terminal.sees("Answer: again");
    expect(place.model.requests.at(-1)!.body).not.toHaveProperty("reasoning_effort", "medium");
    await terminal.send("/stauts");
    await terminal.sees("Command /stauts not found. Did you mean /status?");
  },
);

inTerminals("Ctrl-G opens the draft in an editor, and the terminal comes back clean", async (openPlace) => {
  const place = await openPlace(() => ({ text: "Answered." }), {
    files: {
      "editor.sh": 'echo "of the editor"\nsed -n 1p "$1" > was\nprintf "line one\\nline two\\n" > "$1"\n',
    },
    env: { EDITOR: "sh editor.sh", VISUAL: "" },
  });
  const terminal = place.open();
  await terminal.sees("asks (⇧Tab)");
  terminal.type("a draft");
  await terminal.sees("› a draft");
  terminal.press("C-g");
  await terminal.sees("› line one");
  expect(readFileSync(join(place.folder, "was"), "utf8")).toBe("a draft");
  terminal.press("End");
  terminal.type(" more");
  await terminal.sees("line two more");
  expect(terminal.screen().match(/asks \(⇧Tab\)/g)).toHaveLength(1);
  terminal.press("Enter");
  await terminal.sees("Answered.");
  expect(lastOf(place.model.requests[0]!.messages).text).toBe("line one\nline two more");
});

inTerminals("keyhole chat PROMPT begins with the prompt, and goes on", async (openPlace) => {
  const place = await openPlace(({ messages }) => ({ text: `Answer: ${lastOf(messages).text}` }));
  const terminal = place.open("Which", "tests", "fail?");
  await terminal.sees("› Which tests fail?");
  await terminal.sees("Answer: Which tests fail?");
  await terminal.send("and why?");
  await terminal.sees("Answer: and why?");
});

inTerminals("an editor that fails is named, and the draft stays", async (openPlace) => {
  const place = await openPlace(() => ({ text: "Answered." }), { env: { EDITOR: "no-such-editor" } });
  const terminal = place.open();
  await terminal.sees("asks (⇧Tab)");
  terminal.type("a draft");
  await terminal.sees("› a draft");
  terminal.press("C-g");
  await terminal.sees("The editor failed, and the draft stays");
  await terminal.sees("› a draft");
});

inTerminals("a plan is done after one key, in the same conversation", async (openPlace) => {
  const place = await openPlace(
    ({ messages }) => {
      const { text, role } = lastOf(messages);
      if (text.startsWith("The person approves the plan"))
        return { calls: [{ name: "write", args: { path: "made.txt", text: "made\n" } }] };
      return { text: role === "tool" ? "Made it." : `Plan for ${text.split("\n")[0]}: write made.txt.` };
    },
    { files: { "a.txt": "a\n" } },
  );
  const terminal = place.open();
  await terminal.sees("asks (⇧Tab)");
  terminal.press("BTab", "BTab");
  await terminal.sees("plans, changes nothing");
  await terminal.send("make a file");
  await terminal.sees("Plan for make a file");
  await terminal.sees("Do it?");
  // A message goes on planning.
  await terminal.send("call it made.txt");
  await terminal.sees("Plan for call it made.txt");
  await terminal.sees(READY);
  terminal.press("2");
  await terminal.sees("Made it.");
  await terminal.sees("accepts edits (⇧Tab)");
  expect(readFileSync(join(place.folder, "made.txt"), "utf8")).toBe("made\n");
  const last = place.model.requests.at(-1)!.messages.map(({ text }) => text);
  expect(last).toContain("Plan for call it made.txt: write made.txt.");
  expect(last.find((text) => text.startsWith("The person approves"))).not.toContain("in plan mode");
});

inTerminals("going back takes the files along, if wanted", async (openPlace) => {
  const place = await openPlace(
    ({ messages }) => {
      const { text, role } = lastOf(messages);
      const [, path] = /^make (\S+)/.exec(text) ?? [];
      if (role === "tool" || path === undefined) return { text: `Said: ${text.split("\n")[0]}` };
      return { calls: [{ name: "write", args: { path, text: "made\n" } }] };
    },
    { settings: { permissions: { allow: ["fs-write(**)"] } } },
  );
  const made = (name: string) => existsSync(join(place.folder, name));
  const terminal = place.open();
  await terminal.sees("asks (⇧Tab)");
  await terminal.send("hello");
  await terminal.sees("Said: hello");
  for (const name of ["one.txt", "two.txt"]) {
    await terminal.send(`make ${name}`);
    await terminal.sees(`Said: {"path":"${name}"`);
  }
  const goBackTo = async (message: string) => {
    const isOpen = () => terminal.screen().includes("Go back to before:");
    for (let tries = 0; tries < 20 && !isOpen(); tries += 1) {
      terminal.press("Escape");
      for (let wait = 0; wait < 8 && !isOpen(); wait += 1) await sleep(50);
    }
    await terminal.sees("Go back to before:");
    terminal.type(message);
    await terminal.sees(`Go back to before: ${message}`);
    terminal.press("Enter");
    await terminal.sees("Restore:");
  };
  await goBackTo("make two.txt");
  expect(terminal.screen()).toContain("the conversation and the files  two.txt (1)");
  terminal.press("3");
  await terminal.sees("which the turn had made.");
  expect([made("one.txt"), made("two.txt")]).toEqual([true, false]);
  // The files alone: the conversation is whole, and the model knows.
  await terminal.send("go on");
  await terminal.sees("Said: go on");
  const told = place.model.requests.at(-1)!.messages.map(({ text }) => text);
  expect(told.join("\n")).toContain("The person undid the file changes of a turn:");
  expect(told).toContain("make two.txt");
  await goBackTo("make one.txt");
  terminal.press("1");
  await terminal.sees("Back before that message.");
  expect(made("one.txt")).toBe(false);
  await expect.poll(terminal.screen, PATIENT).toMatch(/› make one.txt\s+asks/);
  terminal.press("C-u");
  await terminal.send("what now");
  await terminal.sees("Said: what now");
  const users = place.model.requests.at(-1)!.messages.filter(({ role }) => role === "user");
  expect(users.map(({ text }) => text)).toEqual(["hello", "what now"]);
});

inTerminals(
  "a note goes into AGENTS.md or into the person's own, and the next request has it",
  async (openPlace) => {
    const place = await openPlace(() => ({ text: "Answered." }), {
      files: {
        "AGENTS.md": "Be kind.\n\nAlso @docs/style.md and @../outside.md",
        "docs/style.md": "Two spaces.",
      },
    });
    const terminal = place.open();
    // Files that an AGENTS.md includes are shown before it is trusted.
    await terminal.sees("docs/style.md: is read to the model");
    await terminal.sees(READY);
    terminal.press("2");
    await terminal.sees("Trusted.");
    await terminal.send("# use pnpm, not npm");
    await terminal.sees("Add the note to:");
    await terminal.sees("› AGENTS.md  of this project");
    terminal.press("Enter");
    await terminal.sees("use pnpm, not npm");
    await expect
      .poll(() => readFileSync(join(place.folder, "AGENTS.md"), "utf8"), PATIENT)
      .toBe("Be kind.\n\nAlso @docs/style.md and @../outside.md\n- use pnpm, not npm\n");
    await terminal.send("# answer in German");
    await terminal.sees("Add the note to:");
    terminal.press("2");
    await terminal.sees("answer in German");
    const own = join(place.home, ".keyhole/AGENTS.md");
    await expect
      .poll(() => existsSync(own) && readFileSync(own, "utf8"), PATIENT)
      .toBe("- answer in German\n");
    await terminal.send("hello");
    await terminal.sees("Answered.");
    const [system] = place.model.requests[0]!.messages;
    expect(system!.text).toContain("- use pnpm, not npm");
    expect(system!.text).toContain("- answer in German");
    expect(system!.text).toContain(`${join("docs", "style.md")}):\nTwo spaces.`);
    // Nothing is written if the person leaves the list.
    await terminal.send("# never mind");
    await terminal.sees("Add the note to:");
    terminal.press("Escape");
    await expect.poll(terminal.screen, PATIENT).not.toContain("Add the note to:");
    expect(readFileSync(own, "utf8")).toBe("- answer in German\n");
  },
);

const REVIEWER = `---
name: reviewer
description: Reviews code and changes nothing.
tools: Read, Grep
model: other-model
---
You review code. Look for mistakes.`;

inTerminals(
  "a sub-agent of a Markdown file has its own prompt, model and tools, once the folder is trusted",
  async (openPlace) => {
    const place = await openPlace(
      ({ messages, body }) => {
        const last = lastOf(messages);
        const isReviewer = messages[0]!.text.startsWith("You review code.");
        if (isReviewer) {
          const results = messages.filter(({ role }) => role === "tool").length;
          if (results === 0) return { calls: [{ name: "read", args: { path: "a.ts" } }] };
          // The first call finds the tool, the second one would run it.
          if (results < 3) return { calls: [{ name: "write", args: { path: "b.ts", text: "no" } }] };
          return { text: `Reviewed by ${(body as { model: string }).model}: ${last.text}` };
        }
        if (last.role === "tool") return { text: last.text };
        return { calls: [{ name: "task", args: { task: "Review a.ts", agent: "reviewer" } }] };
      },
      { files: { "a.ts": "one\n", ".agents/agents/reviewer.md": REVIEWER } },
    );
    const terminal = place.open();
    await terminal.sees("reviewer.md: is read to the model");
    await terminal.sees(READY);
    terminal.press("1");
    await terminal.sees("Not trusted");
    await terminal.send("/agents");
    await terminal.sees("No sub-agents with a role.");
    await terminal.send("/trust");
    await terminal.sees(READY);
    terminal.press("2");
    await terminal.sees("Trusted.");
    await terminal.send("/agents");
    await terminal.sees("Reviews code and changes nothing.");
    await terminal.send("review it");
    await terminal.sees("Reviewed by other-model");
    const reviews = place.model.requests.filter(({ messages }) =>
      messages[0]!.text.startsWith("You review code."),
    );
    expect(reviews[0]!.tools).toContain("read");
    expect(reviews[0]!.tools).not.toContain("write");
    expect(lastOf(reviews.at(-1)!.messages).text).toContain("reviewer has no tool workspace.write");
    expect(existsSync(join(place.folder, "b.ts"))).toBe(false);
  },
);
