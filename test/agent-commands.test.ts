import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { createGateway } from "keyhole";
import { createAgent, createPermissions, run, workspaceDomain } from "keyhole/agent";
import { createLLMClient } from "keyhole/models";
import { type ModelScript, serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { PROVIDER_CASES } from "./model-providers.ts";
import { programEnv } from "./program-env.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const FORMATS = PROVIDER_CASES.filter(({ variant }) =>
  ["responses", "chat", "messages", "generateContent"].includes(variant),
);

async function bodyAfter(command: string, provider = FORMATS[2]!) {
  const script: ModelScript = ({ messages }) =>
    messages.some(({ role }) => role === "tool")
      ? { text: "Seen." }
      : { calls: [{ name: "shell", args: { command } }] };
  const server = await serveScriptedModel(script);
  const permissions = createPermissions({ root: temporaryFolder(), ask: async () => "once" });
  const gateway = createGateway({
    domains: [workspaceDomain({ permissions })],
    principal: { id: "me", scopes: [], allowWrite: true },
  });
  onTestFinished(async () => {
    await gateway.close();
    await server.close();
  });
  const client = createLLMClient({
    config: { providers: { default: provider.name, ...provider.config(server.url) } },
  });
  const agent = createAgent({ gateway, model: () => client.languageModel(), ask: async () => "once" });
  const events = await Array.fromAsync(run(agent, "Do it"));
  expect(events.at(-1)).toMatchObject({ outcome: "answered", text: "Seen." });
  const request = server.requests.at(-1)!;
  const end = events.find(({ type }) => type === "tool-end");
  return { body: JSON.stringify(request.body), text: request.messages.at(-1)!.text, end };
}

test.each(FORMATS)(
  "a failed command is a failure in the request, its exit code first ($name $variant)",
  async (provider) => {
    const { body, end } = await bodyAfter("echo one; echo two >&2; echo three; exit 7", provider);
    expect(end).toMatchObject({ ok: false, error: "COMMAND_FAILED" });
    // A format without a sign for failures has the text as the error of a JSON object.
    expect(body.replaceAll("\\\\", "\\").replaceAll('\\"', '"')).toContain(
      '"exit code 7\\none\\ntwo\\nthree"',
    );
    if (provider.name === "openai") expect(body).toContain('{\\"error\\":\\"exit code 7');
    if (provider.variant === "messages") expect(body).toContain('"is_error":true');
  },
);

test("a long failure reaches the model with its end and a little of its beginning", async () => {
  const { text } = await bodyAfter("echo first; seq 50000; echo FAILED; exit 1");
  expect(text).toMatch(/^exit code 1\nfirst\n1\n/);
  expect(text).toMatch(/\n50000\nFAILED$/);
});

test("a long success reaches the model with its end, and its middle can be read", async () => {
  const { text } = await bodyAfter("echo first; seq 20000; echo 20000 passed");
  expect(text).toMatch(/^\[a part, all \d+ characters at result:\/\/\S+; read on by/);
  expect(text).toMatch(/\]\nfirst\n1\n2\n/);
  expect(text).toMatch(/the middle is left out …\n\d+\n[\s\S]*\n20000\n20000 passed$/);
});

test("commands and background jobs of the program run in the person's environment, less keys of models", async () => {
  const background = (args: object) => ({ name: "exec", args: { op: "desk.background", args } });
  const server = await serveScriptedModel(({ messages }, turn) => {
    if (messages.some(({ text }) => text.includes("[job-1 exited")) || turn > 9) return { text: "Seen." };
    if (turn > 0) return { calls: [background({ job: "job-1" }), wait(turn)] };
    const shell = { name: "exec", args: { op: "workspace.shell", args: { command: "env" } } };
    return { calls: [shell, background({ command: "env" })] };
  });
  onTestFinished(() => server.close());
  const wait = (turn: number) => ({
    name: "exec",
    args: { op: "workspace.shell", args: { command: `sleep 0.${turn}` } },
  });
  const env = {
    ...programEnv(temporaryFolder()),
    OPENAI_API_KEY: "key-of-the-model",
    OPENAI_BASE_URL: `${server.url}/v1`,
    KEYHOLE_MODE: "fixed",
    SSH_AUTH_SOCK: "/run/agent",
    DATABASE_URL: "postgres://localhost/mine",
  };
  const args = ["chat", "-p", "go", "--allow", "shell-run(env)", "--allow", "shell-run(sleep *)"];
  const program = [resolve("src/program/main.ts"), ...args];
  const ended = promisify(execFile)(process.execPath, program, { cwd: temporaryFolder(), env });
  ended.child.stdin?.end();
  const { stdout } = await ended;
  expect(stdout).toBe("Seen.\n");
  const [shell, ...looks] = server.requests.at(-1)!.messages.filter(({ role }) => role === "tool");
  for (const text of [shell!.text, looks.map(({ text }) => text).join("\n")]) {
    expect(text).toContain("SSH_AUTH_SOCK=/run/agent");
    expect(text).toContain("DATABASE_URL=postgres://localhost/mine");
    expect(text).not.toContain("OPENAI_API_KEY");
  }
  expect(server.requests[0]!.messages[0]!.text).toContain("Commands run in the person's environment");
});
