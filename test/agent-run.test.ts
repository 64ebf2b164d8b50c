import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ModelScript, serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished } from "vitest";
import { verifies } from "./claims.ts";
import { programEnv } from "./program-env.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const PROGRAM = resolve("src/program/main.ts");
const SECRET = "not-spelled-like-any-kind";

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

async function openHome(script: ModelScript) {
  const server = await serveScriptedModel(script);
  onTestFinished(() => server.close());
  const home = temporaryFolder();
  const project = temporaryFolder();
  const start = (args: readonly string[]) => {
    const child = spawn(process.execPath, [PROGRAM, "chat", "--print", ...args], {
      cwd: project,
      env: {
        ...programEnv(home),
        OPENAI_API_KEY: SECRET,
        OPENAI_BASE_URL: `${server.url}/v1`,
        KEYHOLE_MAX_RETRIES: "0",
      },
    });
    const ended = Promise.withResolvers<Ended>();
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    child.on("close", (code) => ended.resolve({ code, out, err }));
    return { child, ended: ended.promise, seen: () => out };
  };
  const keyhole = (args: readonly string[], input = "") => {
    const { child, ended } = start(args);
    // The program may end before it has read everything.
    child.stdin.on("error", () => {}).end(input);
    return ended;
  };
  return { server, home, project, start, keyhole };
}

verifies("agent:run", "prints text, JSON or events, and adds piped input to the prompt", async () => {
  const { keyhole, server } = await openHome((_, turn) => ({
    text: `Answer ${turn}.`,
    usage: { input: 7, output: 3 },
  }));
  expect(await keyhole(["-p", "Sum it up"], "a\nb\n")).toMatchObject({ code: 0, out: "Answer 0.\n" });
  expect(server.requests[0]?.messages.at(-1)?.text).toBe("Sum it up\n\na\nb");

  const json = await keyhole(["-p", "again", "--output-format", "json"]);
  expect(JSON.parse(json.out)).toMatchObject({
    outcome: "answered",
    text: "Answer 1.",
    steps: 1,
    usage: { input: 7, output: 3, cached: 0 },
    session: expect.stringMatching(/^\d{8}-\d{6}-/),
  });

  const stream = await keyhole(["--output-format", "stream-json"], "from the pipe");
  const events = stream.out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events[0]).toMatchObject({ type: "agent-start", prompt: "from the pipe" });
  expect(events.at(-1)).toMatchObject({ type: "agent-end", outcome: "answered" });
  expect(events.find(({ type }) => type === "llm-start")).not.toHaveProperty("messages");
});

verifies("agent:run", "a model with its provider in front reaches that provider", async () => {
  const { keyhole, server, home } = await openHome(() => ({ text: "Hello." }));
  const local = await serveScriptedModel(() => ({ text: "From the other one." }));
  onTestFinished(() => local.close());
  mkdirSync(join(home, ".keyhole"));
  const providers = { default: "openai", local: { baseUrl: `${local.url}/v1`, model: "one" } };
  writeFileSync(join(home, ".keyhole/settings.json"), JSON.stringify({ providers }));
  expect(await keyhole(["-p", "hi", "--model", "local/two"])).toMatchObject({ out: "From the other one.\n" });
  expect([server.requests.length, local.requests.length]).toEqual([0, 1]);
  expect(local.requests[0]?.body).toMatchObject({ model: "two" });
});

verifies("agent:run", "input that no model could read whole is an error, and never a summary", async () => {
  const { keyhole, server } = await openHome(() => ({ text: "Hello." }));
  const { code, err } = await keyhole(["-p", "sum it up"], "word ".repeat(800_000));
  expect(code).not.toBe(0);
  expect(err).toContain("save it as a file and name the file in the prompt");
  expect(server.requests).toHaveLength(0);
});

verifies("agent:run", "-c and -r continue a conversation, and its file has no secret", async () => {
  const { keyhole, server, home } = await openHome((_, turn) => ({ text: `Answer ${turn}. ${SECRET}` }));
  const first = JSON.parse((await keyhole(["-p", "one", "--output-format", "json"])).out);
  const last = await keyhole(["-c", "-p", "two"]);
  expect(last.code).toBe(0);
  expect(last.err).toContain("Resumed");
  const named = await keyhole(["-r", first.session, "-p", "three"]);
  expect(named.code).toBe(0);
  const asked = server.requests.at(-1)?.messages.filter(({ role }) => role === "user");
  expect(asked?.map(({ text }) => text)).toEqual(["one", "two", "three"]);
  const folder = join(home, ".keyhole", "sessions");
  expect(readdirSync(folder)).toEqual([`${first.session}.jsonl`]);
  expect(readFileSync(join(folder, `${first.session}.jsonl`), "utf8")).not.toContain(SECRET);
  const unknown = await keyhole(["-r", "../../etc/passwd", "-p", "four"]);
  expect(unknown).toMatchObject({ code: 1, out: "" });
  expect(unknown.err).toContain("SESSION_UNKNOWN");
});

verifies("agent:run", "the exit code tells the outcome", async () => {
  const endless = await openHome((_, turn) => ({
    calls: [{ name: "tool_search", args: { query: `thing ${turn}` } }],
  }));
  writeFileSync(join(endless.project, "x.txt"), "x");
  const limited = await endless.keyhole(["-p", "go", "--output-format", "json"]);
  expect(limited.code).toBe(3);
  expect(JSON.parse(limited.out)).toMatchObject({ outcome: "step-limit", steps: 50 });

  const broken = await openHome(() => ({ error: { status: 401, message: "wrong key" } }));
  const failed = await broken.keyhole(["-p", "go"]);
  expect(failed).toMatchObject({ code: 1, out: "" });
  expect(failed.err).toContain("AUTHENTICATION_ERROR");
  expect((await broken.keyhole([])).code).toBe(2);
  expect((await broken.keyhole(["-p", "x", "--output-format", "xml"])).code).toBe(2);
  expect((await broken.keyhole(["--nonsense"])).code).toBe(2);
  expect((await broken.keyhole(["--help"])).out).toContain("Exit codes");
});

verifies(
  "agent:run",
  "without a person, a write without a rule is denied and one with a rule runs",
  async () => {
    const script = [
      { calls: [{ name: "tool_search", args: { query: "write a file" } }] },
      { calls: [{ name: "write", args: { path: "out.txt", text: "hello" } }] },
      { text: "Done." },
    ];
    const denied = await openHome(script);
    const first = await denied.keyhole(["-p", "write"]);
    expect(first.err).toContain("fs-write");
    const told = denied.server.requests
      .at(-1)!
      .messages.map(({ text }) => text)
      .join("\n");
    expect(told).toContain("Nobody is there to ask. Go on without it");
    expect(told).not.toContain("The person refused");
    expect(readdirSync(denied.project)).toEqual([]);

    const allowed = await openHome(script);
    mkdirSync(join(allowed.home, ".keyhole"));
    writeFileSync(
      join(allowed.home, ".keyhole", "settings.json"),
      JSON.stringify({ permissions: { allow: ["fs-write(out.txt)"] } }),
    );
    expect(await allowed.keyhole(["-p", "write"])).toMatchObject({ code: 0, out: "Done.\n" });
    expect(readFileSync(join(allowed.project, "out.txt"), "utf8")).toBe("hello");
  },
);

verifies("agent:run", "an interrupt ends the run with all events printed", async () => {
  const { start, home, project } = await openHome([
    { calls: [{ name: "tool_search", args: { query: "run a shell command" } }] },
    { calls: [{ name: "shell", args: { command: "sleep 100" } }] },
    { text: "Slept." },
  ]);
  mkdirSync(join(home, ".keyhole"));
  const rules = { permissions: { allow: ["shell-run(sleep *)"] } };
  writeFileSync(join(home, ".keyhole", "settings.json"), JSON.stringify(rules));
  const { child, ended, seen } = start(["-p", "sleep", "--output-format", "stream-json"]);
  child.stdin.end();
  await expect.poll(seen, { timeout: 30_000 }).toContain('"tool":"shell"');
  child.kill("SIGINT");
  const { code, out } = await ended;
  expect(code).toBe(130);
  expect(JSON.parse(out.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ outcome: "cancelled" });
  expect(readdirSync(project)).toEqual([]);
});
