import { fstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { OUTPUT_FORMATS, printEvents } from "../../agent/chat/print-events.ts";
import { loadPackage } from "../../agent/models/providers/define-provider.ts";
import { readRules } from "../../agent/permissions/permission.ts";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { provideCarriedPackages } from "../open/carried-packages.ts";
import { defineCommand, invalid } from "../terminal/define-command.ts";
import { createSafeConsole } from "../terminal/safe-console.ts";
import { CONFIG, CONTINUE, MODEL, PROFILE, PROVIDER, RESUME, TRUST } from "../terminal/shared-options.ts";

const MAX_INPUT_CHARS = 10_000_000;
const WRONG_USAGE = 2;
const INTERRUPTED = 130;

export const run = defineCommand({
  name: "run",
  page: "agent.md",
  words: "[PROMPT]...",
  forms: ["-p PROMPT"],
  options: {
    prompt: { short: "p", takes: "TEXT", help: "the prompt; piped input is added to it or replaces it" },
    continue: CONTINUE,
    resume: RESUME,
    "json-schema": { takes: "FILE", help: "answer with JSON of this JSON Schema" },
    "output-format": { takes: "FORMAT", choices: OUTPUT_FORMATS, default: "text" },
    stream: {
      help: "write text as it arrives, also what the model says between calls (default in a terminal)",
    },
    provider: PROVIDER,
    model: MODEL,
    config: CONFIG,
    profile: PROFILE,
    trust: TRUST,
    allow: {
      takes: "RULE",
      repeats: true,
      help: "allow something for this run, such as 'shell-run(npm test)' or 'fs-write(src/**)'",
    },
    "allow-write": {
      help: `run tools that write without asking, also those that write the folder's files; commands and destructive
        tools stay denied`,
    },
  },
  notes: `Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 a limit was reached (also that of the answer) or the model
    repeated itself, 4 the provider's content filter stopped the answer, 130 interrupted. Nobody can be asked, so calls
    that no rule of the settings or of --allow allows are denied.`,
  misuseCode: 2,
  run: async (input, { usage }) => {
    const fail = (message: string): never => {
      console.error(`${message}\n\n${usage}`);
      process.exit(WRONG_USAGE);
    };
    // stdout carries the answer only; tools and config may print anything.
    globalThis.console = createSafeConsole(process.stderr);
    process.stdout.on("error", () => {});
    const prompt = await promptOf([input.prompt ?? "", ...input.words].join(" ").trim());
    if (prompt === "") fail("The prompt is missing: give it with -p, or pipe it in.");
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
    await loadPackage("ai", "keyhole run", () => import("ai"));
    const [{ openAgent }, { run: runAgent }] = await Promise.all([
      import("../open/open-agent.ts"),
      import("../../agent/loop/run.ts"),
    ]);
    const { agent, loaded, observe, close } = await openAgent({ ...input, folder: process.cwd() });
    for (const { message } of loaded.problems) console.error(message);

    const controller = new AbortController();
    const interrupt = () => (controller.signal.aborted ? process.exit(INTERRUPTED) : controller.abort());
    process.on("SIGINT", interrupt);
    process.on("SIGTERM", interrupt);
    let code = 1;
    try {
      const resume = input.continue ? "last" : input.resume;
      const session = await agent.openSession(resume === undefined ? {} : { resume });
      const events = observe(
        runAgent(agent, prompt, { session, signal: controller.signal, ...(output && { output }) }),
      );
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
  },
});

async function readSchemaFile(path: string): Promise<JsonSchema> {
  const { compileSchema } = await import("../../base/json-schema/compile-schema.ts");
  const schema = JSON.parse(await readFile(path, "utf8")) as JsonSchema;
  compileSchema(schema);
  if (schema.type !== "object") throw invalid("run", 'the type of the schema must be "object"');
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
      throw problem("LIMIT_EXCEEDED", { what: "The input", actual: "longer", limit: MAX_INPUT_CHARS });
  }
  return text;
}
