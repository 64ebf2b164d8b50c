// The command line of the agent framework's document: structured answers, and exit codes that tell how a run ended.
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { run } from "keyhole/agent";
import { type ModelScript, serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { printEvents } from "../../src/agent/chat/print-events.ts";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { openTerminalAgent, saveFiles } from "./terminal-agent.ts";

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

async function keyholeRun(script: ModelScript, args: readonly string[]) {
  const server = await serveScriptedModel(script);
  onTestFinished(() => server.close());
  const [home, project] = [temporaryFolder(), temporaryFolder()];
  saveFiles(project, { "city.json": JSON.stringify(SCHEMA), "list.json": '{"type":"array"}' });
  const child = spawn(process.execPath, [resolve("src/program/main.ts"), "chat", "--print", ...args], {
    cwd: project,
    env: {
      ...programEnv(home),
      XDG_CACHE_HOME: join(home, "cache"),
      OPENAI_API_KEY: "planted",
      OPENAI_BASE_URL: `${server.url}/v1`,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const code = new Promise<number | null>((done) => child.on("close", done));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { out, err, code: await code, server };
}

test("--json-schema FILE prints JSON of that schema, and sends the schema to the provider", async () => {
  const { out, code, server } = await keyholeRun(
    [{ text: '```json\n{ "city": "Bern" }\n```' }],
    ["-p", "Where?", "--json-schema", "city.json"],
  );
  expect({ out, code }).toEqual({ out: '{"city":"Bern"}\n', code: 0 });
  expect(JSON.stringify(server.requests[0]?.body)).toContain('"city":{"type":"string"}');
});

test("a file that is no schema of an object is wrong usage", async () => {
  const { err, code, server } = await keyholeRun([], ["-p", "Where?", "--json-schema", "list.json"]);
  expect(code).toBe(2);
  expect(err).toContain("--json-schema list.json: ");
  expect(server.requests).toEqual([]);
});

test.each([
  ["length", 3, "ANSWER_CUT_OFF"],
  ["content-filter", 4, "ANSWER_FILTERED"],
] as const)("the finish reason %s gives the exit code %i, and says why", async (finish, expected, word) => {
  const { agent } = await openTerminalAgent([{ text: "Once upon a", finish }]);
  const [out, err] = [new PassThrough(), new PassThrough()];
  const code = await printEvents(run(agent, "Tell me a story"), "text", { out, err });
  expect(code).toBe(expected);
  expect(String(out.read())).toBe("Once upon a\n");
  expect(String(err.read())).toContain(word);
});
