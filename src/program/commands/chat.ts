import { fstatSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { OUTPUT_FORMATS, printEvents } from "../../agent/chat/print-events.ts";
import type { SessionState } from "../../agent/loop/agent.ts";
import { loadPackage } from "../../agent/models/providers/define-provider.ts";
import { readRules } from "../../agent/permissions/permission.ts";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { provideCarriedPackages } from "../open/carried-packages.ts";
import { firstRun, isFirstRun } from "../open/first-run.ts";
import { loadSettings } from "../open/load-settings.ts";
import { openSecrets } from "../open/secrets.ts";
import { ownConfig } from "../open/user-folders.ts";
import { hasTerminal } from "../terminal/confirm.ts";
import { type CommandInput, defineCommand, invalid } from "../terminal/define-command.ts";
import { createSafeConsole } from "../terminal/safe-console.ts";
import { CONFIG, PROFILE, TRUST } from "../terminal/shared-options.ts";

/** About 100,000 tokens. Longer input would be summarized before the model has seen it. */
const MAX_INPUT_CHARS = 400_000;
const WRONG_USAGE = 2;
const INTERRUPTED = 130;

const OPTIONS = {
  print: { short: "p", help: "answer the prompt once and end; piped input is added to it or replaces it" },
  continue: { short: "c", help: "continue the last conversation of this folder" },
  resume: { short: "r", takes: "ID", help: "continue that conversation" },
  provider: { takes: "NAME", help: "the provider to use" },
  model: { takes: "NAME", help: "the model to use" },
  config: CONFIG,
  profile: PROFILE,
  trust: TRUST,
  plain: {
    help: `plain lines, as without a terminal; calls that would ask for permission are denied, and a line that fails
      makes the exit code 1`,
  },
  "output-format": {
    takes: "FORMAT",
    choices: OUTPUT_FORMATS,
    default: "text",
    help: "of the answer that --print prints",
  },
  "json-schema": { takes: "FILE", help: "--print answers with JSON of this JSON Schema" },
  stream: {
    help: `--print writes text as it arrives, also what the model says between calls (default in a terminal)`,
  },
  allow: {
    takes: "RULE",
    repeats: true,
    help: "--print allows this, such as 'shell-run(npm test)' or 'fs-write(src/**)'",
  },
  "allow-write": {
    help: `--print runs tools that write without asking, also those that write the folder's files; commands and
      tools that destroy stay denied`,
  },
} as const;
type ChatCommandInput = CommandInput<typeof OPTIONS>;

export const chat = defineCommand({
  name: "chat",
  page: "chat.md",
  words: "[PROMPT]...",
  about: `Chats with the agent in the terminal, from PROMPT on if it is given. In the chat, /help lists commands and
    keys. With --print, prints the answer to PROMPT and ends.`,
  options: OPTIONS,
  notes: `Exit codes of --print: 0 answered, 1 failed, 2 wrong usage, 3 a limit was reached (also that of the answer) or
    the model repeated itself, 4 the provider's content filter stopped the answer, 130 interrupted. Nobody can be asked,
    so calls that no rule of the settings or of --allow allows are denied.`,
  misuseCode: WRONG_USAGE,
  run: (input, { usage }) => (input.print ? printAnswer(input, usage) : chatInTerminal(input)),
});

async function chatInTerminal(input: ChatCommandInput): Promise<void> {
  await provideCarriedPackages();
  await loadPackage("ai", "keyhole chat", () => import("ai"));
  const [{ openChat }, { openChatHistory }, { Chat }] = await Promise.all([
    import("../open/open-chat.ts"),
    import("../../agent/chat/chat-history.ts"),
    import("../../agent/tui/chat.ts"),
  ]);
  const folder = process.cwd();
  const prompt = input.words.join(" ").trim();
  if (input.provider === undefined && !input.plain) await setUpFirst(folder);
  const isPlain = input.plain || !process.stdin.isTTY || !process.stdout.isTTY;
  const { agent, past, problems, asksTrust, modelName, close } = await openChat(
    // The screen asks by itself.
    {
      ...input,
      folder,
      asksTrust: isPlain,
      approve: async (...about) => (await import("../approvals/approve.ts")).approveIn(...about),
    },
    input.continue ? "last" : input.resume,
  );
  const history = await openChatHistory(join(homedir(), ".keyhole", "history.jsonl"), folder);
  const opened = new Chat(agent, {
    history: history.lines,
    onSent: history.add,
    isFile: (path) =>
      stat(path).then(
        (about) => about.isFile(),
        () => false,
      ),
    past,
  });
  // The question about trust says what is left out without it.
  const shown = problems.filter(({ code }) => isPlain || !asksTrust || code !== "FOLDER_NOT_TRUSTED");
  for (const { message } of shown) console.error(message);
  let ok = true;
  try {
    if (isPlain) {
      const { plainChat } = await import("../../agent/tui/plain-chat.ts");
      ok = await plainChat(opened, {
        input: prompt === "" ? process.stdin : Readable.from(beginningWith(prompt)),
        write: (line) => process.stdout.write(`${line}\n`),
      });
    } else {
      const [{ showChat }, { listFiles }] = await Promise.all([
        import("../../agent/tui/show-chat.ts"),
        import("../../agent/tui/mentions.ts"),
      ]);
      const banner = `Keyhole, ${modelName()}. /help lists commands and keys.`;
      const asked = asksTrust ? opened.askTrust() : Promise.resolve();
      void asked.then(async () => {
        for (const text of await agent.news()) opened.notice(text);
      });
      void asked.then(() => (prompt === "" ? undefined : opened.submit(prompt)));
      await showChat(opened, { banner, files: await listFiles(folder) });
    }
  } finally {
    await close();
  }
  process.exit(ok ? 0 : 1);
}

/** Lets the person choose a provider if nobody has yet. */
async function setUpFirst(project: string): Promise<void> {
  if (!isFirstRun(await loadSettings({ project }))) return;
  if (!hasTerminal())
    return console.error(
      "No model provider is set up yet, and choosing one needs a terminal. Without one, set KEYHOLE_PROVIDER and the provider's key, such as OPENAI_API_KEY.",
    );
  const { createDialogue } = await import("../../agent/tui/dialogue.ts");
  const isSetUp = await firstRun({
    file: ownConfig(),
    secrets: openSecrets(),
    dialogue: createDialogue({ stdin: process.stdin, stdout: process.stdout }),
  });
  if (!isSetUp) process.exit(0);
}

/** The first line, then the person's. */
async function* beginningWith(prompt: string) {
  yield `${prompt.replaceAll(/\s*\n\s*/g, " ")}\n`;
  yield* process.stdin;
}

/** Answers one prompt and ends the process with the code of the answer. */
async function printAnswer(input: ChatCommandInput, usage: string): Promise<void> {
  const fail = (message: string): never => {
    console.error(`${message}\n\n${usage}`);
    process.exit(WRONG_USAGE);
  };
  // stdout carries the answer only; tools and config may print anything.
  globalThis.console = createSafeConsole(process.stderr);
  process.stdout.on("error", () => {});
  const prompt = await promptOf(input.words.join(" ").trim());
  if (prompt === "") fail("The prompt is missing: write it after --print, or pipe it in.");
  const { jsonSchema: file } = input;
  const output =
    file === undefined
      ? undefined
      : await readSchemaFile(file).catch((error: unknown) =>
          fail(`--json-schema ${file}: ${reasonOf(error)}`),
        );
  try {
    readRules("user", { allow: [...input.allow] });
  } catch (error) {
    fail(`--allow: ${reasonOf(error)}`);
  }
  await provideCarriedPackages();
  await loadPackage("ai", "keyhole chat", () => import("ai"));
  const [{ openAgent }, { expandPrompt }, { say }, { toModelMessage }, { run: runAgent }] = await Promise.all(
    [
      import("../open/open-agent.ts"),
      import("../open/open-chat.ts"),
      import("../../agent/loop/agent.ts"),
      import("../../agent/chat/to-chat-agent.ts"),
      import("../../agent/loop/run.ts"),
    ],
  );
  const folder = process.cwd();
  const opened = await openAgent({ ...input, folder });
  const { agent, loaded, observe, close } = opened;
  for (const { message } of loaded.problems) console.error(message);

  const controller = new AbortController();
  const interrupt = () => (controller.signal.aborted ? process.exit(INTERRUPTED) : controller.abort());
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  let code = 1;
  try {
    const resume = input.continue ? "last" : input.resume;
    const said = await expandPrompt(prompt, opened, folder);
    const session = await agent.openSession(resume === undefined ? {} : { resume });
    say(session as SessionState, said.slice(0, -1).map(toModelMessage));
    const { prompt: asked, files = [] } = said.at(-1)!;
    const options = { session, signal: controller.signal, files, ...(output && { output }) };
    const events = observe(runAgent(agent, asked, options));
    code = await printEvents(events, input.outputFormat, {
      out: process.stdout,
      err: process.stderr,
      stream: input.stream || (process.stdout.isTTY && !output),
    });
    await session.end();
  } finally {
    await close();
  }
  process.exit(code);
}

async function readSchemaFile(path: string): Promise<JsonSchema> {
  const { compileSchema } = await import("../../base/json-schema/compile-schema.ts");
  const schema = JSON.parse(await readFile(path, "utf8")) as JsonSchema;
  compileSchema(schema);
  if (schema.type !== "object") throw invalid("chat", 'the type of the schema must be "object"');
  return schema;
}

/** The prompt, followed by the piped input. */
async function promptOf(prompt: string): Promise<string> {
  const piped = isPiped() ? await readInput() : "";
  return [prompt, piped.trim()].filter((part) => part !== "").join("\n\n");
}

/** False for a terminal and the null device. */
function isPiped(): boolean {
  try {
    const about = fstatSync(0);
    return about.isFIFO() || about.isFile() || about.isSocket();
  } catch {
    return false;
  }
}

async function readInput(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_INPUT_CHARS)
      throw invalid(
        "chat",
        `the piped input is longer than ${MAX_INPUT_CHARS} characters; save it as a file and name the file in the prompt`,
      );
  }
  return text;
}
