import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSessionLogs } from "../src/agent/loop/session-log.ts";
import type { ModelScript } from "../src/testing/scripted-model.ts";
import { chatPlace, noTerminal } from "./chat-kit.ts";

const STEP = [
  { name: "read", args: { path: "a.txt" } },
  { name: "shell", args: { command: "cat gate" } },
  { name: "write", args: { path: "b.txt", text: "b" } },
  { name: "exec", args: { op: "desk.background", args: { command: "touch c.txt" } } },
];

const script: ModelScript = ({ messages }) =>
  messages.at(-1)?.text === "start" ? { calls: STEP } : { text: "Seen." };

test.skipIf(noTerminal)(
  "after kill -9 the model is told which calls never ran, which may have, and which ended",
  async () => {
    const settings = { permissions: { allow: ["shell-run(cat *)"] } };
    const { model, home, folder, open } = await chatPlace(script, { settings, files: { "a.txt": "a" } });
    expect(spawnSync("mkfifo", [join(folder, "gate")]).status).toBe(0);
    const terminal = open();
    await terminal.sees("asks (⇧Tab)");
    await terminal.send("start");
    await terminal.sees("Allow fs-write?");
    const sessions = join(home, ".keyhole/sessions");
    const readLog = () => {
      const [file = ""] = readdirSync(sessions).filter((name) => name.endsWith(".jsonl"));
      return readFileSync(join(sessions, file), "utf8");
    };
    await expect.poll(readLog, { timeout: 20_000 }).toContain('"type":"tool-end"');
    terminal.kill();
    await terminal.ends();
    const again = open("-c");
    await again.sees("asks (⇧Tab)");
    await again.send("go on");
    await again.sees("Seen.");
    const results = model.requests.at(-1)!.messages.filter(({ role }) => role === "tool");
    expect(results.map(({ text }) => text)).toEqual([
      expect.stringContaining("The call succeeded, but the program ended before its result was kept."),
      expect.stringContaining("whether it took effect is not known"),
      expect.stringContaining("The program ended before this call ran: it has changed nothing."),
      expect.stringContaining("The program ended before this call ran: it has changed nothing."),
    ]);
    expect([existsSync(join(folder, "b.txt")), existsSync(join(folder, "c.txt"))]).toEqual([false, false]);

    // A conversation of an earlier version does not say how far its calls had come.
    const old = readLog()
      .split("\n")
      .filter((line) => !/"type":"(?:call|session-resumed)"/.test(line))
      .join("\n");
    const path = join(home, "old");
    const logs = createSessionLogs({ path });
    const other = logs.create();
    other.message({ role: "user", content: "x" });
    await other.close();
    const [mine = ""] = readdirSync(path).filter((name) => name.endsWith(".jsonl"));
    const before = old.slice(0, old.indexOf("go on")).replace('"version":2', '"version":1');
    writeFileSync(join(path, mine), before.slice(0, before.lastIndexOf("\n") + 1));
    const { messages, log } = await logs.resume(mine.replace(".jsonl", ""));
    await log.close();
    expect(JSON.stringify(messages)).not.toContain("has changed nothing");
    expect(JSON.stringify(messages)).toContain("whether it took effect is not known");
  },
);
