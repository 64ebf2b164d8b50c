import { fstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { loadPackage } from "../models/providers/load-package.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { problem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "./print-events.ts";
import { FLAG, readWordsAndArgs, TEXT, TEXTS } from "./read-args.ts";
import { createSafeConsole } from "./safe-console.ts";

const USAGE = `Usage: keyhole run -p PROMPT [options]

  -p, --prompt TEXT        the prompt; piped input is added to it or replaces it
  -c, --continue           continue the last conversation of this folder
  -r, --resume ID          continue that conversation
  --json-schema FILE       answer with JSON of this JSON Schema
  --output-format FORMAT   ${OUTPUT_FORMATS.join(", ")} (default: text)
  --stream                 write text as it arrives, also what the model says between calls (default in a terminal)
  --provider NAME          the provider to use
  --model NAME             the model to use
  --config FILE            as for keyhole serve
  --profile NAME           only the servers of this profile of the config
  --trust                  start the servers of a JSON config and accept all definitions without approval
  --allow RULE             allow something for this run, such as 'shell-run(npm test)' or 'fs-write(src/**)';
                           give it as often as needed
  --allow-write            run tools that write without asking, also those that write the folder's files;
                           commands and destructive tools stay denied
  -h, --help

Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 a limit was reached (also that of the answer) or the model
repeated itself, 4 the provider's content filter stopped the answer, 130 interrupted. Nobody can be asked, so calls
that no rule of the settings or of --allow allows are denied.`;

const MAX_INPUT_CHARS = 10_000_000;
const WRONG_USAGE = 2;
const INTERRUPTED = 130;

/** Runs the agent once and exits with the code of its outcome. */
export async function run(args: readonly string[]): Promise<void> {
  const values = readOptions(args);
  if (values.help) return console.log(USAGE);
  // stdout carries the answer only; tools and config may print anything.
  globalThis.console = createSafeConsole(process.stderr);
  process.stdout.on("error", () => {});
  const prompt = await promptOf(values.prompt);
  if (prompt === "") return void fail("The prompt is missing: give it with -p, or pipe it in.");
  const output =
    values["json-schema"] === undefined ? undefined : await readSchemaFile(values["json-schema"]);

  await checkRules(values.allow);
  await loadPackage("ai", "keyhole run", () => import("ai"));
  const [{ openAgent }, { run: runAgent }, { printEvents }] = await Promise.all([
    import("./open-agent.ts"),
    import("../agent/run.ts"),
    import("./print-events.ts"),
  ]);
  const { agent, loaded, observe, close } = await openAgent({
    folder: process.cwd(),
    config: values.config,
    profile: values.profile,
    provider: values.provider,
    model: values.model,
    trust: values.trust,
    allow: values.allow,
    allowWrite: values["allow-write"],
  });
  for (const { message } of loaded.problems) console.error(message);

  const controller = new AbortController();
  const interrupt = () => (controller.signal.aborted ? process.exit(INTERRUPTED) : controller.abort());
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  let code = 1;
  try {
    const resume = values.continue ? "last" : values.resume;
    const session = await agent.openSession(resume === undefined ? {} : { resume });
    const events = observe(
      runAgent(agent, prompt, { session, signal: controller.signal, ...(output && { output }) }),
    );
    code = await printEvents(events, values.format, {
      out: process.stdout,
      err: process.stderr,
      stream: values.stream || (process.stdout.isTTY && !output),
    });
    await session.end();
  } finally {
    await close();
  }
  process.exit(code);
}

function readOptions(args: readonly string[]) {
  try {
    const { values, positionals } = readWordsAndArgs("run", args, {
      prompt: { type: "string", short: "p" },
      continue: { type: "boolean", short: "c", default: false },
      resume: { type: "string", short: "r" },
      "json-schema": TEXT,
      stream: FLAG,
      "output-format": { type: "string", default: "text" },
      provider: TEXT,
      model: TEXT,
      config: TEXT,
      profile: TEXT,
      trust: FLAG,
      allow: TEXTS,
      "allow-write": FLAG,
    });
    const format = values["output-format"] as OutputFormat;
    if (!OUTPUT_FORMATS.includes(format)) {
      throw problem("INVALID_INPUT", {
        operation: "run",
        reason: `--output-format must be one of ${OUTPUT_FORMATS.join(", ")}`,
      });
    }
    return { ...values, format, prompt: [values.prompt ?? "", ...positionals].join(" ").trim() };
  } catch (error) {
    return fail(reasonOf(error));
  }
}

async function checkRules(allow: readonly string[]): Promise<void> {
  const { readRules } = await import("../agent/permissions/permission-rules.ts");
  try {
    readRules("user", { allow });
  } catch (error) {
    fail(`--allow: ${reasonOf(error)}`);
  }
}

async function readSchemaFile(path: string): Promise<JsonSchema> {
  const { compileSchema } = await import("../catalog/compile-schema.ts");
  try {
    const schema = JSON.parse(await readFile(path, "utf8")) as JsonSchema;
    compileSchema(schema);
    if (schema.type !== "object") fail(`--json-schema ${path}: its type must be "object"`);
    return schema;
  } catch (error) {
    return fail(`--json-schema ${path}: ${reasonOf(error)}`);
  }
}

/** The prompt, followed by the piped input. */
async function promptOf(said: string): Promise<string> {
  const piped = isPiped() ? await readInput() : "";
  return [said, piped.trim()].filter((part) => part !== "").join("\n\n");
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
    if (text.length > MAX_INPUT_CHARS) {
      throw problem("LIMIT_EXCEEDED", { what: "The input", actual: "longer", limit: MAX_INPUT_CHARS });
    }
  }
  return text;
}

function fail(message: string): never {
  console.error(`${message}\n\n${USAGE}`);
  process.exit(WRONG_USAGE);
}
