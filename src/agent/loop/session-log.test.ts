import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { createScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { openWorkspace } from "../../../test/open-workspace.ts";
import { PLANTED } from "../../../test/planted-secrets.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createPermissions } from "../permissions/permissions.ts";
import { createAgent } from "./agent.ts";
import { createSessionLogs } from "./session-log.ts";

const span = { traceId: "t", spanId: "s" };

async function keep(path: string, folder: string, prompt: string) {
  const log = createSessionLogs({ path, folder }).create();
  log.message({ role: "user", content: prompt });
  log.event({ type: "agent-start", prompt, session: log.id, span });
  await log.settle();
  await log.close();
  return { id: log.id, file: join(path, `${log.id}.jsonl`) };
}

test("a conversation is resumed with its messages and events from a file that only its owner reads", async () => {
  const path = join(temporaryFolder(), "sessions");
  const { id, file } = await keep(path, "/work/one", "hello");
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { messages, events, log } = await createSessionLogs({ path }).resume(id);
  expect(messages).toEqual([{ role: "user", content: "hello" }]);
  expect(events).toMatchObject([{ type: "agent-start", prompt: "hello" }]);
  const before = readFileSync(file, "utf8");
  log.message({ role: "assistant", content: "hi" });
  await log.settle();
  await log.close();
  expect(readFileSync(file, "utf8").startsWith(before)).toBe(true);
  expect((await createSessionLogs({ path }).resume(id)).messages).toHaveLength(2);
});

test("kill-during-write: a line cut by a crash is skipped, and an interrupted call gets a result", async () => {
  const path = temporaryFolder();
  const { id, file } = await keep(path, "/work/one", "hello");
  const call = { type: "tool-call", toolCallId: "a", toolName: "work", input: {} };
  appendFileSync(
    file,
    `${JSON.stringify({ type: "message", message: { role: "assistant", content: [call] } })}\n`,
  );
  appendFileSync(file, 'null\n[]\n{"type":"message","message":{"role":"wizard"}}\n{"type":"message","mess');
  const { messages, log } = await createSessionLogs({ path }).resume(id);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  log.message({ role: "user", content: "again" });
  await log.settle();
  await log.close();
  expect((await createSessionLogs({ path }).resume(id)).messages.at(-1)).toEqual({
    role: "user",
    content: "again",
  });
});

test("last is the project's own conversation, and a list shows first prompts", async () => {
  const path = temporaryFolder();
  const one = await keep(path, "/work/one", "first");
  await keep(path, "/work/two", "second");
  writeFileSync(join(path, "notes.jsonl"), "{}");
  mkdirSync(join(path, "20260101-000000-0123456789.jsonl"));
  const logs = createSessionLogs({ path, folder: "/work/one" });
  expect(await logs.latest()).toBe(one.id);
  expect((await logs.list()).map(({ prompt }) => prompt).sort()).toEqual(["first", "second"]);
  expect(await createSessionLogs({ path, folder: "/work/three" }).latest()).toBeUndefined();
  expect(await createSessionLogs({ path: join(path, "none") }).list()).toEqual([]);
});

test.each(["../../etc/passwd", "", "20260101-000000-0123456789", "constructor", "a\0b"])(
  "%j is no conversation",
  async (id) => {
    await expect(createSessionLogs({ path: temporaryFolder() }).resume(id)).rejects.toMatchObject({
      code: "SESSION_UNKNOWN",
    });
  },
);

test("a folder that cannot be written is reported once and breaks nothing", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  const log = createSessionLogs({ path: join(folder, "file", "sessions") }).create();
  log.message({ role: "user", content: "hello" });
  await expect(log.settle()).rejects.toMatchObject({ code: "SESSION_NOT_KEPT" });
  await log.close();
});

verifies("agent:no-secrets", "a secret anywhere in messages or events is not in the file", async () => {
  const path = temporaryFolder();
  const secrets = ["a secret of the environment"];
  const log = createSessionLogs({ path, secrets }).create();
  const plants = [...Object.values(PLANTED), { secret: secrets[0]!, written: `see ${secrets[0]}` }];
  for (const { written } of plants) {
    log.message({ role: "user", content: written });
    const input = { text: written, deep: [{ [written]: written }] };
    const output = { type: "text" as const, value: JSON.stringify({ text: `first\n${written}` }) };
    log.message({
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "a", toolName: "t", input }],
    });
    log.message({
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "a", toolName: "t", output }],
    });
    log.event({ type: "tool-start", callId: "a", tool: "t", args: input, span });
    log.event({ type: "notice", text: written, span });
  }
  await log.settle();
  await log.close();
  const [file = ""] = readdirSync(path);
  const stored = readFileSync(join(path, file), "utf8");
  expect(stored.split("\n").length).toBeGreaterThan(5 * plants.length);
  expect(plants.length).toBeGreaterThanOrEqual(20);
  for (const { secret } of plants) expect(stored).not.toContain(secret);
});

test("old unused conversations are deleted when a new one starts", async () => {
  const path = temporaryFolder();
  const logs = createSessionLogs({ path, maxAgeDays: 30 });
  const old = logs.create();
  old.message({ role: "user", content: "long ago" });
  await old.close();
  const then = new Date(Date.now() - 31 * 24 * 60 * 60_000);
  utimesSync(join(path, `${old.id}.jsonl`), then, then);
  const next = logs.create();
  next.message({ role: "user", content: "now" });
  await next.close();
  await expect.poll(async () => (await logs.list()).map(({ id }) => id)).toEqual([next.id]);
});

test("a conversation that another process has open is not resumed, and the last one gives way to a new one", async () => {
  const path = temporaryFolder();
  const sessions = createSessionLogs({ path, folder: "/p" });
  const log = sessions.create();
  log.message({ role: "user", content: "Hello" });
  await log.close();
  const holder = `
    import { holdLock } from ${JSON.stringify(new URL("../../core/audit/chain-writer.ts", import.meta.url).href)};
    holdLock(${JSON.stringify(join(path, `${log.id}.jsonl.lock`))});
    process.send("held");
    setInterval(() => {}, 1_000);`;
  const other = spawn(process.execPath, ["--input-type=module-typescript", "-e", holder], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(() => void other.kill("SIGKILL"));
  await once(other, "message");
  await expect(sessions.resume(log.id)).rejects.toMatchObject({ code: "SESSION_IN_USE" });
  const gateway = createGateway({ domains: [] });
  onTestFinished(() => gateway.close());
  const agent = createAgent({ gateway, model: createScriptedModel([]), sessions });
  const opened = await agent.openSession({ resume: "last" });
  expect(opened.id).not.toBe(log.id);
  await opened.end();
  const gone = once(other, "exit");
  other.kill("SIGKILL");
  await gone;
  const resumed = await sessions.resume(log.id);
  expect(resumed.messages).toHaveLength(1);
  await resumed.log.close();
});

test("T14: a log keeps nothing of a file that was read as sensitive, neither its lines nor quotes of them", async () => {
  const [root, path] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(root, ".env"), 'MOTTO="seven quiet herons"\nMODE=dawn chorus\n');
  writeFileSync(join(root, ".npmrc"), "registry=plain words of a login\n");
  const permissions = createPermissions({ root, home: root, ask: async () => "once" });
  const workspace = openWorkspace({ permissions });
  const log = createSessionLogs({ path }).create();
  const read = await workspace.read({ path: ".env" });
  const shell = await workspace.shell({ command: "cat .npmrc" });
  expect(JSON.stringify([read, shell])).toMatch(/seven quiet herons.*plain words of a login/);
  const output = { type: "text", value: JSON.stringify([read, shell]) } as const;
  const result = { type: "tool-result", toolCallId: "1", toolName: "read", output } as const;
  log.message({ role: "tool", content: [result] });
  log.message({ role: "assistant", content: "The motto is seven quiet herons, in the dawn chorus mode." });
  await log.settle();
  await log.close();
  const text = readFileSync(join(path, `${log.id}.jsonl`), "utf8");
  expect(text).not.toMatch(/herons|chorus|plain words/);
  expect(text).toContain("The motto is [secret]");
});
